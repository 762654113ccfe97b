// TCP of htsim over a dumbbell, for flows that are read: capsim and this program get the same ones.
// Input: "tcp" or "dctcp"; hosts on each side; bit/s of hosts and of the link between the switches; bytes that the queue of
// this link takes, and from which it marks; delays in ps of the link between the switches and of each host's; flows, each
// source, destination (counted from 0 on its side), packets and start in ps. Output: when its sender has the last
// acknowledgement, in ps, and packets sent; then what the queue has dropped.

#include <iostream>
#include <vector>

#include "config.h"
#include "dctcp.h"
#include "ecnqueue.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

const uint64_t PACKET_BYTES = 1500;

// A connection that was opened before its flow, and notes when all is acknowledged.
template <class Source>
class Opened : public Source {
public:
    Opened(EventList& list, uint64_t packets) : Source(nullptr, nullptr, list), bytes(packets * PACKET_BYTES) {
        this->_flow_size = bytes - PACKET_BYTES;  // htsim sends while what was sent is at most this and a byte
        this->set_ssthresh(0xffffffff);
        this->_rto = timeFromMs(250);
    }
    void doNextEvent() override {
        if (begun) return Source::doNextEvent();
        begun = this->_established = true;
        this->_unacked = this->_cwnd;
        this->send_packets();
    }
    void receivePacket(Packet& packet) override {
        Source::receivePacket(packet);
        if (end_ps == 0 && this->_last_acked >= bytes) {
            end_ps = EventList::getTheEventList().now();
            this->_RFC2988_RTO_timeout = timeInf;
        }
    }
    const uint64_t bytes;
    simtime_picosec end_ps = 0;
    bool begun = false;
};

struct Link {
    Queue* queue;
    Pipe* pipe;
};

static Link link(Queue* queue, simtime_picosec delay_ps, EventList& list) {
    return {queue, new Pipe(delay_ps, list)};
}

static Route* route(std::initializer_list<Link> links) {
    Route* found = new Route();
    for (const Link& each : links) {
        found->push_back(each.queue);
        found->push_back(each.pipe);
    }
    return found;
}

template <class Source>
static void run(EventList& list) {
    const mem_b unlimited = (mem_b)1 << 40;
    uint64_t hosts, host_bps, middle_bps, room, mark, delay_ps, src, dst, packets, start_ps;
    std::cin >> hosts >> host_bps >> middle_bps >> room >> mark >> delay_ps;
    Queue* shared = mark ? new ECNQueue(middle_bps, room, list, nullptr, mark) : new Queue(middle_bps, room, list, nullptr);
    const Link right = link(shared, delay_ps, list), left = link(new Queue(middle_bps, unlimited, list, nullptr), delay_ps, list);
    std::vector<Link> from, to;
    for (uint64_t host = 0; host < 2 * hosts; host++) {
        std::cin >> delay_ps;
        from.push_back(link(new Queue(host_bps, unlimited, list, nullptr), delay_ps, list));
        to.push_back(link(new Queue(host_bps, unlimited, list, nullptr), delay_ps, list));
    }
    TcpRtxTimerScanner timers(timeFromMs(1), list);
    std::vector<Opened<Source>*> sources;
    while (std::cin >> src >> dst >> packets >> start_ps) {
        Opened<Source>* source = new Opened<Source>(list, packets);
        TcpSink* sink = new TcpSink();
        timers.registerTcp(*source);
        Route* there = route({from[src], right, to[hosts + dst]});
        Route* back = route({from[hosts + dst], left, to[src]});
        there->push_back(sink);
        back->push_back(source);
        source->connect(*there, *back, *sink, start_ps);
        sources.push_back(source);
    }
    for (bool done = false; !done && list.doNextEvent();) {
        done = true;
        for (Opened<Source>* each : sources) done = done && each->end_ps;
    }
    for (Opened<Source>* each : sources) std::cerr << each->end_ps << " " << each->_packets_sent / PACKET_BYTES << "\n";
    std::cerr << shared->num_drops() << "\n";
}

int main() {
    EventList& list = EventList::getTheEventList();
    list.setEndtime(timeFromSec(1000));
    Packet::set_packet_size(PACKET_BYTES);
    std::string kind;
    std::cin >> kind;
    if (kind == "dctcp") {
        run<DCTCPSrc>(list);
    } else {
        run<TcpSrc>(list);
    }
}
