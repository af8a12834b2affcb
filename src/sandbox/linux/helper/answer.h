/* Answers to the questions that the kernel puts to the supervisor. */
#ifndef ANSWER_H
#define ANSWER_H

#include "policy.h"
#include "supervise.h"

/* Takes one question from the listener and answers it. */
void answer_question(const struct policy *policy, struct run *run);

#endif
