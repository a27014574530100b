"""lawn.py - a gdb command that prints a lawn and its classes, without running the program.

    gdb -x tools/gdb/lawn.py PROGRAM [CORE]
    (gdb) lawn-print EXPRESSION

It only reads memory, so it also works with core files. The library must have been compiled
with debugging information (-g); NDEBUG does not matter. The expression is a struct lawn, a
struct lawn_class, or a pointer to one; of a class, its lawn is printed. The form is
that of lawn_dump(), but times are followed by what remains until then.

`earliest` is a time that no deadline precedes. Times of a paused class are as if it were
resumed now. What is printed of a lawn that a thread is changing may be wrong.
"""
import gdb

NEVER = 2**64 - 1
LAST = NEVER - 1


def pointer_to(name, value):
    """Casts to a pointer. Also completes a struct that the program only declares."""
    return value.cast(gdb.lookup_type("struct " + name).pointer())


def lawn_of(text):
    """Evaluates an expression. Returns the lawn as a struct."""
    value = gdb.parse_and_eval(text)
    if value.type.strip_typedefs().code != gdb.TYPE_CODE_PTR:
        value = value.address
    name = value is not None and value.type.strip_typedefs().target().unqualified().strip_typedefs().tag
    if name not in ("lawn", "lawn_class"):
        raise gdb.GdbError(f"lawn-print: '{text}' is not a struct lawn or struct lawn_class, or a pointer to one")
    value = pointer_to(name, value)
    if int(value) == 0:
        raise gdb.GdbError(f"lawn-print: '{text}' is NULL")
    lawn = (value["lawn"] if name == "lawn_class" else value).dereference()
    if "classes" not in [field.name for field in lawn.type.fields()]:
        raise gdb.GdbError("lawn-print: struct lawn has no classes: the library has another version")
    lawn.fetch_lazy()
    return lawn


def time(value, now):
    if value == NEVER:
        return "never"
    return f"{value} ({'in ' if value >= now else '-'}{abs(value - now)})"


def next_deadline(lawn, cls):
    """Returns the deadline of the first running timer; see src/core/class.h."""
    first = None
    for name in ("queue", "recent"):
        if first is None and cls[name]["next"] != cls[name].address:
            first = cls[name]["next"]
    if first is None:
        return NEVER
    stamp = int(pointer_to("lawn_timer", first)["deadline"])
    start = (stamp + int(cls["base"])) & NEVER
    if int(cls["paused_at"]) != NEVER:
        start += int(lawn["now"]) - int(cls["paused_at"])
    deadline = min(start + int(cls["ttl"]), LAST)
    resolution = int(lawn["resolution"])
    return min((deadline + resolution - 1) // resolution * resolution, LAST)


def describe_class(lawn, cls):
    values = {name: int(cls[name]) for name in ("ttl", "starts", "stops", "fires", "late_max", "weight")}
    name = cls["name"].string("utf-8", "replace") if int(cls["name"]) != 0 else None
    shown = "-" if name is None else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    count = (values["starts"] - values["stops"] - values["fires"]) & NEVER
    paused = "yes" if int(cls["paused_at"]) != NEVER else "no"
    return (f"class {shown}, ttl {values['ttl']}, count {count}, detached {int(cls['detached_count'])}, "
            f"fires {values['fires']}, late_max {values['late_max']}, "
            f"next {time(next_deadline(lawn, cls), int(lawn['now']))}, weight {values['weight']}, paused {paused}")


def describe(lawn):
    """Returns lines of text."""
    classes, now = lawn["classes"], int(lawn["now"])
    others = (int(lawn["tuning"]["starts"]) + int(lawn["starts"])
              - int(lawn["stops"]) - int(lawn["fires"])) & NEVER
    earliest = min(int(lawn["bound"]) if others > 0 else NEVER, int(classes["next"]))
    lines = [f"lawn: now {now}, resolution {int(lawn['resolution'])}, "
             f"count {others + int(classes['running'])}, earliest {time(earliest, now)}, "
             f"classes {int(classes['count'])} of {int(classes['max'])}"]
    for i in range(int(classes["max"])):
        cls = classes["all"][i]
        if int(cls["place"]) < int(classes["count"]):
            lines.append(describe_class(lawn, cls))
    return lines


class LawnPrint(gdb.Command):
    """Print a lawn and its classes.
Usage: lawn-print EXPRESSION

The expression is a struct lawn, a struct lawn_class, or a pointer to one."""

    def __init__(self):
        super().__init__("lawn-print", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        if not argument.strip():
            raise gdb.GdbError("usage: lawn-print EXPRESSION")
        try:
            print("\n".join(describe(lawn_of(argument))))
        except gdb.error as error:
            raise gdb.GdbError(f"lawn-print: {error}; is the library compiled with -g?")


LawnPrint()
