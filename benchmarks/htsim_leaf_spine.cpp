// The permutation of bench_sim.py in htsim: SIDE leaves, as many hosts on each and as many spines, TCP, one path a flow.
// Usage: htsim_leaf_spine SIDE FLOW_BYTES; prints link traversals and CPU seconds of its event loop, as JSON, to stderr.
// beside_htsim.py compiles it against a built checkout of https://github.com/Broadcom/csg-htsim.

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <vector>

#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

static uint64_t traversals = 0;

class CountingPipe : public Pipe {
public:
    CountingPipe(simtime_picosec delay, EventList& list) : Pipe(delay, list) {}
    void doNextEvent() override {
        if (_count > 0) traversals++;
        Pipe::doNextEvent();
    }
};

struct Link {
    Queue* queue;
    Pipe* pipe;
};

static Link link(EventList& list, mem_b room_bytes) {
    return {new Queue(speedFromMbps((uint64_t)1000), room_bytes, list, nullptr),
            new CountingPipe(timeFromUs((uint32_t)1), list)};
}

static Route* route(std::initializer_list<Link> links, PacketSink* end) {
    Route* found = new Route();
    for (const Link& each : links) {
        found->push_back(each.queue);
        found->push_back(each.pipe);
    }
    found->push_back(end);
    return found;
}

int main(int, char** arguments) {
    const int side = atoi(arguments[1]), hosts = side * side;
    const uint64_t flow_bytes = strtoull(arguments[2], nullptr, 10);
    const mem_b buffer = 100 * 1500, unlimited = (mem_b)1 << 40;
    EventList& list = EventList::getTheEventList();
    list.setEndtime(timeFromSec(1000));
    Packet::set_packet_size(1500);
    TcpRtxTimerScanner timers(timeFromMs(10), list);
    std::vector<Link> nic, to_host, to_spine, to_leaf;  // of host; of leaf * side + spine
    for (int each = 0; each < hosts; each++) {
        nic.push_back(link(list, unlimited));
        to_host.push_back(link(list, buffer));
        to_spine.push_back(link(list, buffer));
        to_leaf.push_back(link(list, buffer));
    }
    std::vector<TcpSrc*> sources;
    srand(1);
    for (int src = 0; src < hosts; src++) {
        const int dst = (src + side) % hosts, out = rand() % side, back = rand() % side;
        TcpSrc* source = new TcpSrc(nullptr, nullptr, list);
        TcpSink* sink = new TcpSink();
        source->set_flowsize(flow_bytes);
        source->set_ssthresh(0xffffffff);
        timers.registerTcp(*source);
        const int from_leaf = src / side * side, at_leaf = dst / side * side;
        source->connect(
            *route({nic[src], to_spine[from_leaf + out], to_leaf[at_leaf + out], to_host[dst]}, sink),
            *route({nic[dst], to_spine[at_leaf + back], to_leaf[from_leaf + back], to_host[src]}, source), *sink, 0);
        sources.push_back(source);
    }
    const clock_t begin = clock();
    bool done = false;
    for (uint64_t events = 1; !done && list.doNextEvent(); events++) {
        if (events % 4096) continue;
        done = true;
        for (TcpSrc* each : sources) done = done && each->_last_acked >= flow_bytes;
    }
    const double cpu_s = double(clock() - begin) / CLOCKS_PER_SEC;
    std::cerr << "{\"traversals\": " << traversals << ", \"cpu_s\": " << cpu_s << "}" << std::endl;
}
