"""say.py PORT - the same conversation as the other clients, with python3-redis.
"""
import sys

import redis

server = redis.Redis(port=int(sys.argv[1]))


def send(*words):
    try:
        answer = server.execute_command(*words)
    except redis.exceptions.ResponseError as error:
        # The library removes only "ERR ".
        answer = b"error: " + str(error).encode()
    print(show(answer))


def show(answer):
    if isinstance(answer, list):
        return "[" + " ".join(map(show, answer)) + "]"
    if answer is None:
        return "nil"
    return answer.decode() if isinstance(answer, bytes) else str(answer)


for line in sys.stdin:
    send(*line.split())
