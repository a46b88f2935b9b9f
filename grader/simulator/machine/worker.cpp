// The worker: allocates, then reads launches on its input and writes what happened on its output.
#include <algorithm>
#include <cstring>

#include "../observers/counters.hpp"
#include "../observers/observers.hpp"
#include "../observers/sparse.hpp"
#include "fiber.hpp"
#include "findings.hpp"
#include "instrumentation.hpp"
#include "memory.hpp"
#include "output.hpp"
#include "platform.hpp"
#include "schedule.hpp"

namespace {

using namespace sim;

constexpr int input = 0, results = 1;
Request request;
bool launching, confined;

bool write_pieces(const Pieces &list) {
    return write_fully(results, list.pieces, list.kept() * sizeof(Piece));
}

void respond(Status status, uintptr_t pc) {
    Response response{};
    response.version = protocol_version;
    response.ticket = request.ticket;
    response.confined = confined;
    response.status = status;
    response.finding_count = finding_count;
    response.output_bytes = (uint32_t)output_bytes;
    response.output_cut = output_cut;
    bool images = status == finished && !request.sparse;
    response.operand_count = images ? operand_count : 0;
    response.counter_row_count = status == finished ? counter_row_count : 0;
    response.barriers = barrier_count;
    response.uncounted = uncounted;
    bool sparse = status == finished && request.sparse;
    if (sparse) end_sparse_launch();
    response.stored = sparse ? stored.count : 0;
    response.loaded = sparse ? loaded.count : 0;
    response.pc = pc;
    response.last_pc = last_pc;
    Position at = position();
    memcpy(response.thread, at.thread, sizeof at.thread);
    memcpy(response.block, at.block, sizeof at.block);
    for (uint32_t index = 0; index < response.operand_count; ++index) {
        response.image_words[index] = (operands[index].image_end - operands[index].image_begin) / 4;
    }
    bool sent = write_fully(results, &response, sizeof response) &&
                write_fully(results, findings, finding_count * sizeof(RawFinding)) &&
                write_fully(results, output, output_bytes) &&
                write_fully(results, counter_rows, response.counter_row_count * sizeof(CounterRow)) &&
                (!sparse || (write_pieces(stored) && write_pieces(loaded)));
    for (uint32_t index = 0; sent && index < response.operand_count; ++index) {
        sent = write_fully(results, (void *)operands[index].image_begin,
                           response.image_words[index] * 4);
    }
    if (!sent) quit(broken_pipe);
}

// Sends what is known so far and ends: after a crash nothing in this process can be trusted.
void on_worker_fault(const Fault &fault) {
    if (!launching) quit(own_fault);
    launching = false;
    if (fault.timeout) {
        respond(timed_out, fault.pc);
        quit(said_all);
    }
    bool overflow = fiber_of_guard(fault.address) >= 0;
    Kind kind = fault.system_call >= 0 ? system_call : overflow ? stack_overflow : fatal_signal;
    RawFinding *finding = report(kind, fault.pc, 0);
    if (finding) {
        const char *called = system_call_name(fault.system_call);
        set_text(*finding, kind == system_call ? called ? called : "" : fault.name);
        finding->offset = fault.system_call;
        finding->pc_other = last_pc;  // where the kernel was when it happened in our code
    }
    respond(crashed, fault.pc);
    quit(said_all);
}

bool read_lines() {
    line_row_count = request.line_row_count;
    return line_row_count <= max_line_rows &&
           read_fully(input, line_rows, line_row_count * sizeof(LineRow));
}

bool read_images() {
    for (uint32_t index = 0; index < operand_count; ++index) {
        const Operand &operand = operands[index];
        if (!read_fully(input, (void *)operand.image_begin,
                        operand.image_end - operand.image_begin)) {
            return false;
        }
    }
    return true;
}

}  // namespace

int main() {
    static Hello hello;
    if (!read_fully(input, &hello, sizeof hello) || hello.version != protocol_version) return misunderstood;
    reserve_stacks();
    reserve_memory(hello);
    on_fault(on_worker_fault);
    bool first = true;
    while (read_fully(input, &request, sizeof request)) {
        if (request.version != protocol_version || !place_operands(request)) return misunderstood;
        if (first) {
            reserve_order();
            reserve_occurrences();
            confined = enter_sandbox();
            uint32_t ready = protocol_version;
            if (!write_fully(results, &ready, sizeof ready)) return broken_pipe;
            first = false;
        }
        if (!read_lines() || (!request.sparse && !read_images())) return misunderstood;
        finding_count = 0;
        forget_output();
        last_pc = 0;
        launching = true;
        limit_cpu_seconds(request.cpu_limit_s);
        Status status = run_grid(request);
        limit_cpu_seconds(0);
        launching = false;
        respond(status, 0);
        if (request.sparse) forget_operands();
    }
    return said_all;
}
