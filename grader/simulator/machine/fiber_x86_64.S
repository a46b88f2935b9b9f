// sim_switch(void **from, void *to): saves the callee-saved registers on the running stack, stores
// its stack pointer in *from and goes on where `to` was saved (System V AMD64 ABI).
    .text
    .globl sim_switch
    .type sim_switch, @function
sim_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size sim_switch, . - sim_switch
    .section .note.GNU-stack,"",@progbits
