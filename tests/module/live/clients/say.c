/* say.c PORT - the same conversation as the other clients, with hiredis. Each
 * line of the input is a command, its words separated by single spaces; each
 * line of the output is the reply.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 32

static void
show(const redisReply *reply)
{
    switch (reply->type) {
    case REDIS_REPLY_NIL:
        printf("nil");
        break;
    case REDIS_REPLY_INTEGER:
        printf("%lld", reply->integer);
        break;
    case REDIS_REPLY_ARRAY:
        printf("[");
        for (size_t i = 0; i < reply->elements; i++) {
            printf("%s", i ? " " : "");
            show(reply->element[i]);
        }
        printf("]");
        break;
    case REDIS_REPLY_ERROR:
        printf("error: %s",
               strncmp(reply->str, "ERR ", 4) ? reply->str : reply->str + 4);
        break;
    default:
        printf("%s", reply->str);
    }
}

int
main(int count, char **args)
{
    redisContext *server =
        count == 2 ? redisConnect("127.0.0.1", atoi(args[1])) : NULL;
    if (server == NULL || server->err) {
        return 1;
    }
    char line[4096];
    while (fgets(line, sizeof(line), stdin) != NULL) {
        const char *words[WORDS];
        int size = 0;
        char *rest = NULL;
        for (char *word = strtok_r(line, " \n", &rest);
             word != NULL && size < WORDS;
             word = strtok_r(NULL, " \n", &rest)) {
            words[size++] = word;
        }
        redisReply *reply = redisCommandArgv(server, size, words, NULL);
        if (reply == NULL) {
            return 1;
        }
        show(reply);
        printf("\n");
        freeReplyObject(reply);
    }
    redisFree(server);
    return 0;
}
