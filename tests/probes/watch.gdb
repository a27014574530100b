# What a tracer sees of tests/probes/watched.c: a line for each probe that is
# passed. The line begins with the probe's address, which tests/api/probes checks,
# and removes before it compares the lines.
set pagination off
set width 0
set breakpoint pending off
set print thread-events off
break main
run
delete
break -probe-stap lawn:start
commands
silent
printf "%lu start %lu %lu %lu %lu\n", $pc, $_probe_arg0, $_probe_arg1, $_probe_arg2, $_probe_arg3
continue
end
break -probe-stap lawn:stop
commands
silent
printf "%lu stop %lu %lu %lu\n", $pc, $_probe_arg0, $_probe_arg1, $_probe_arg2
continue
end
break -probe-stap lawn:fire
commands
silent
printf "%lu fire %lu %lu %lu %lu\n", $pc, $_probe_arg0, $_probe_arg1, $_probe_arg2, $_probe_arg3
continue
end
break -probe-stap lawn:mow
commands
silent
printf "%lu mow %lu %lu %lu\n", $pc, $_probe_arg0, $_probe_arg1, $_probe_arg2
continue
end
break -probe-stap lawn:mown
commands
silent
printf "%lu mown %lu %lu %lu\n", $pc, $_probe_arg0, $_probe_arg1, $_probe_arg2
continue
end
info probes stap lawn
continue
