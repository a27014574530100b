/* completion.c - the option tables, for shells and other tools.
 *
 * The scripts are generated from the tables that parsing and help use, so they
 * cannot disagree. The suggestions follow from the names in the tables. A value
 * named FILE, and an operand named FILE, LEFT or RIGHT, is completed as a file
 * name. The words that an option accepts are suggested. Other values have no
 * suggestions. A verb that another program runs is completed by that program's
 * script.
 */
#include "completion.h"

#include <string.h>

void
completion_each(const struct completion_program *program,
                completion_each_fn *each)
{
    const struct options_verb *const *verbs = program->root->verbs;
    if (verbs == NULL) {
        each(program, program->root);
        return;
    }
    for (size_t i = 0; verbs[i] != NULL; i++) {
        const struct options_verb *const *own = verbs[i]->verbs;
        each(program, verbs[i]);
        for (size_t j = 0; own != NULL && own[j] != NULL; j++) {
            each(program, own[j]);
        }
    }
}

const char *
completion_read_operand(const char *operands,
                        struct completion_operand *operand)
{
    operands += strspn(operands, " ");
    if (*operands == '\0') {
        return NULL;
    }
    size_t length = strcspn(operands, " ");
    const char *next = operands + length;
    operand->optional = *operands == '[';
    operand->repeated = length > 3 && memcmp(next - 3, "...", 3) == 0;
    operand->name = operands + operand->optional;
    operand->length = strcspn(operand->name, "]. ");
    return next;
}

static bool
is_file_operand(const struct completion_operand *operand)
{
    static const char *const names[] = {"FILE", "LEFT", "RIGHT"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i]) == operand->length &&
            memcmp(names[i], operand->name, operand->length) == 0) {
            return true;
        }
    }
    return false;
}

struct completion_files
completion_find_files(const struct options_verb *verb)
{
    struct completion_files files = {0, 0};
    struct completion_operand operand;
    const char *rest = verb->operands != NULL ? verb->operands : "";
    /* The number of this operand if optional ones before it are absent. */
    size_t earliest = 1;
    for (size_t i = 1; (rest = completion_read_operand(rest, &operand)) != NULL;
         i++) {
        if (is_file_operand(&operand)) {
            if (files.first == 0) {
                files.first = earliest;
            }
            files.last = operand.repeated ? SIZE_MAX : i;
        }
        if (!operand.optional) {
            earliest = i + 1;
        }
    }
    return files;
}

bool
completion_is_file(const struct options_spec *spec)
{
    return spec->value != NULL && strcmp(spec->value, "FILE") == 0;
}

void
completion_put_quoted(const char *text, const char *special, const char *quote)
{
    for (; *text != '\0'; text++) {
        if (*text == ' ' || *text == '\n' || *text == '\t') {
            text += strspn(text, " \n\t") - 1;
            putchar(' ');
        } else if (*text == '\'') {
            fputs(quote, stdout);
        } else {
            if (strchr(special, *text) != NULL) {
                putchar('\\');
            }
            putchar(*text);
        }
    }
}

void
completion_put_words(const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        printf("%s%s", i > 0 ? " " : "", words[i]);
    }
}

/* Returns the value of a {name} at text, and its length; NULL if there is
 * none. */
static const char *
find_name(const struct completion_program *program, const char *text,
          size_t *length)
{
    const struct {
        const char *name;
        const char *value;
    } names[] = {
        {"{command}", program->command},
        {"{stem}", program->stem},
        {"{made_by}", program->made_by},
        {"{root}", program->root->name},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        *length = strlen(names[i].name);
        if (strncmp(text, names[i].name, *length) == 0) {
            return names[i].value;
        }
    }
    return NULL;
}

void
completion_put_script(const struct completion_program *program,
                      const char *script)
{
    while (*script != '\0') {
        size_t length = 0;
        const char *value = find_name(program, script, &length);
        if (value != NULL) {
            fputs(value, stdout);
            script += length;
        } else {
            putchar(*script++);
        }
    }
}

/* Prints a field of the table and the character after it. */
static void
put_field(const char *text, char after)
{
    completion_put_quoted(text != NULL ? text : "", "", "'");
    putchar(after);
}

static void
put_options(const struct completion_program *program,
            const struct options_verb *verb)
{
    (void)program;
    const struct options_spec *s = NULL;
    bool common = false;
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++) {
        common = common || s == verb->common;
        put_field(verb->name, '\t');
        put_field(common ? "common" : "own", '\t');
        put_field((char[]){s->letter, '\0'}, '\t');
        put_field(s->name, '\t');
        put_field(s->value, '\t');
        put_field(s->initial, '\t');
        put_field(s->implied, '\t');
        if (s->words != NULL) {
            completion_put_words(s->words);
        }
        putchar('\t');
        put_field(s->help, '\n');
    }
}

static void
write_table(const struct completion_program *program)
{
    completion_each(program, put_options);
}

const char *const completion_kinds[] = {"bash", "zsh", "fish", "table", NULL};

void
completion_write(const struct completion_program *program, size_t kind)
{
    static void (*const writers[])(const struct completion_program *) = {
        completion_write_bash,
        completion_write_zsh,
        completion_write_fish,
        write_table,
    };
    writers[kind](program);
}
