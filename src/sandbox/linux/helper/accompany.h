/* `helper --accompany RUNTIME_PID -- /program [argument]…`: runs a program as it is, and sees to it that it does not outlive the runtime. */
#ifndef ACCOMPANY_H
#define ACCOMPANY_H

/* Runs the program unconfined, with all that this process has; ends it and all that came from it with the runtime. */
void accompany(long runtime_pid, char **program, char **environment) __attribute__((noreturn));

#endif
