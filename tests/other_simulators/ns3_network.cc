// Hosts, switches and TCP transfers in ns-3, driven by make_ns3_values.py.
//
// A host has one interface. A switch forwards by host routes. Every link is a PointToPointChannel whose two devices
// have a DropTail queue that counts packets; there is no queue disc above it. With an ECN threshold the device queue
// holds one packet, and a RedQueueDisc above it marks every packet that finds the threshold reached (minimum and maximum
// threshold alike, averaging weight 1).

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <memory>
#include <vector>

namespace reference {
using namespace ns3;

struct Link {
    uint32_t a, b;
    uint64_t rateBpsAb, rateBpsBa;
    int64_t delayPs;
    uint32_t packetsAb, packetsBa;
};

struct Route {
    uint32_t node, host, next;
};

// The time integral of the packets in one queue, from a given moment on.
class Waiting {
  public:
    explicit Waiting(Time from)
        : m_from(from),
          m_last(from) {
    }

    void Changed(uint32_t before, uint32_t) {
        Time now = std::max(Simulator::Now(), m_from);
        packetS += before * (now - m_last).GetSeconds();
        m_last = now;
    }

    double packetS{0};

  private:
    Time m_from, m_last;
};

// One flow: a listening socket, a connection, and what happened to it.
class Transfer {
  public:
    Transfer(Ptr<Node> source, Ptr<Node> sink, Ipv4Address address, uint16_t port, uint32_t bytes)
        : m_bytes(bytes),
          m_target(address, port) {
        m_listener = Socket::CreateSocket(sink, TcpSocketFactory::GetTypeId());
        m_listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        m_listener->Listen();
        m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                      MakeCallback(&Transfer::Accepted, this));
        m_socket = Socket::CreateSocket(source, TcpSocketFactory::GetTypeId());
        m_socket->TraceConnectWithoutContext("Retransmission", MakeCallback(&Transfer::Retransmitted, this));
    }

    void Open() {
        m_socket->Bind();
        m_socket->Connect(m_target);
    }

    void Send() {
        m_socket->Send(Create<Packet>(m_bytes));
    }

    void OpenAndSend() {
        Open();
        Send();
    }

    int64_t endPs{-1};
    uint32_t retransmissions{0};

  private:
    void Accepted(Ptr<Socket> socket, const Address&) {
        socket->SetRecvCallback(MakeCallback(&Transfer::Received, this));
    }

    void Received(Ptr<Socket> socket) {
        while (Ptr<Packet> packet = socket->Recv()) {
            m_received += packet->GetSize();
        }
        if (m_received == m_bytes && endPs < 0) {
            endPs = Simulator::Now().GetPicoSeconds();
        }
    }

    void Retransmitted(Ptr<const Packet>, const TcpHeader&, const Address&, const Address&, Ptr<const TcpSocketBase>) {
        ++retransmissions;
    }

    uint32_t m_bytes, m_received{0};
    InetSocketAddress m_target;
    Ptr<Socket> m_listener, m_socket;
};

class Network {
  public:
    Network(uint32_t nodes, int64_t countedFromPs, uint32_t thresholdPackets)
        : m_countedFrom(PicoSeconds(countedFromPs)),
          m_threshold(thresholdPackets) {
        m_nodes.Create(nodes);
        InternetStackHelper stack;
        Ipv4StaticRoutingHelper routing;
        stack.SetRoutingHelper(routing);
        stack.SetIpv6StackInstall(false);
        stack.Install(m_nodes);
    }

    ~Network() {
        Simulator::Destroy();
    }

    void AddLink(const Link& link) {
        PointToPointHelper helper;
        helper.SetChannelAttribute("Delay", TimeValue(PicoSeconds(link.delayPs)));
        if (m_threshold == 0) {
            helper.DisableFlowControl();
        }
        NetDeviceContainer devices = helper.Install(m_nodes.Get(link.a), m_nodes.Get(link.b));
        uint32_t net = 0x0a000000 + 4 * m_links++;
        AddEnd(devices.Get(0), link.rateBpsAb, link.packetsAb, net + 1);
        AddEnd(devices.Get(1), link.rateBpsBa, link.packetsBa, net + 2);
        m_toward[{link.a, link.b}] = devices.Get(0);
        m_toward[{link.b, link.a}] = devices.Get(1);
    }

    void AddRoute(const Route& route) {
        Ptr<NetDevice> device = m_toward.at({route.node, route.next});
        Ptr<Ipv4> ipv4 = m_nodes.Get(route.node)->GetObject<Ipv4>();
        Ipv4StaticRoutingHelper().GetStaticRouting(ipv4)->AddHostRouteTo(AddressOf(route.host),
                                                                         ipv4->GetInterfaceForDevice(device));
    }

    void AddFlow(uint32_t source, uint32_t sink, uint32_t bytes, int64_t openPs, int64_t startPs) {
        uint16_t port = 1000 + m_transfers.size();
        m_transfers.push_back(std::make_unique<Transfer>(m_nodes.Get(source),
                                                         m_nodes.Get(sink),
                                                         AddressOf(sink),
                                                         port,
                                                         bytes));
        Transfer* transfer = m_transfers.back().get();
        if (openPs == startPs) {
            Simulator::Schedule(PicoSeconds(startPs), &Transfer::OpenAndSend, transfer);
            return;
        }
        Simulator::Schedule(PicoSeconds(openPs), &Transfer::Open, transfer);
        // TcpSocketBase::Send puts the first packet on its way one time step later.
        Simulator::Schedule(PicoSeconds(startPs - 1), &Transfer::Send, transfer);
    }

    void Run(int64_t endPs) {
        Simulator::Stop(PicoSeconds(endPs));
        Simulator::Run();
    }

    int64_t EndPs(uint32_t flow) const {
        return m_transfers[flow]->endPs;
    }

    uint32_t Retransmissions(uint32_t flow) const {
        return m_transfers[flow]->retransmissions;
    }

    // The two ends of link i are the queues 2 i and 2 i + 1.
    uint64_t Dropped(uint32_t end) const {
        uint64_t above = m_discs[end] ? m_discs[end]->GetStats().nTotalDroppedPackets : 0;
        return above + m_queues[end]->GetTotalDroppedPackets();
    }

    uint64_t Marked(uint32_t end) const {
        return m_discs[end] ? m_discs[end]->GetStats().nTotalMarkedPackets : 0;
    }

    double WaitingPacketS() const {
        double sum = 0;
        for (const auto& waiting : m_waiting) {
            sum += waiting->packetS;
        }
        return sum;
    }

  private:
    void AddEnd(Ptr<NetDevice> device, uint64_t rateBps, uint32_t packets, uint32_t address) {
        Ptr<PointToPointNetDevice> link = DynamicCast<PointToPointNetDevice>(device);
        link->SetDataRate(DataRate(rateBps));
        Ptr<Queue<Packet>> queue = link->GetQueue();
        queue->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, m_threshold ? 1 : packets));
        m_queues.push_back(queue);
        queue->TraceConnectWithoutContext("PacketsInQueue", CountWaiting());
        Ptr<Ipv4> ipv4 = device->GetNode()->GetObject<Ipv4>();
        uint32_t interface = ipv4->AddInterface(device);
        ipv4->AddAddress(interface, Ipv4InterfaceAddress(Ipv4Address(address), Ipv4Mask("/30")));
        ipv4->SetUp(interface);
        m_discs.push_back(m_threshold ? AddDisc(device, packets) : nullptr);
    }

    // One packet waits in the device, the others here.
    Ptr<QueueDisc> AddDisc(Ptr<NetDevice> device, uint32_t packets) {
        TrafficControlHelper helper;
        helper.SetRootQueueDisc("ns3::RedQueueDisc",
                                "MinTh", DoubleValue(m_threshold - 1),
                                "MaxTh", DoubleValue(m_threshold - 1),
                                "QW", DoubleValue(1),
                                "Gentle", BooleanValue(false),
                                "UseEcn", BooleanValue(true),
                                "UseHardDrop", BooleanValue(false),
                                "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, packets - 1)));
        Ptr<QueueDisc> disc = helper.Install(device).Get(0);
        disc->TraceConnectWithoutContext("PacketsInQueue", CountWaiting());
        return disc;
    }

    Callback<void, uint32_t, uint32_t> CountWaiting() {
        m_waiting.push_back(std::make_unique<Waiting>(m_countedFrom));
        return MakeCallback(&Waiting::Changed, m_waiting.back().get());
    }

    Ipv4Address AddressOf(uint32_t host) const {
        return m_nodes.Get(host)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    }

    Time m_countedFrom;
    uint32_t m_threshold, m_links{0};
    NodeContainer m_nodes;
    std::map<std::pair<uint32_t, uint32_t>, Ptr<NetDevice>> m_toward;
    std::vector<Ptr<Queue<Packet>>> m_queues;
    std::vector<Ptr<QueueDisc>> m_discs;
    std::vector<std::unique_ptr<Waiting>> m_waiting;
    std::vector<std::unique_ptr<Transfer>> m_transfers;
};

void SetDefault(const std::string& attribute, const std::string& value) {
    Config::SetDefault(attribute, StringValue(value));
}

void UsePicoseconds() {
    Time::SetResolution(Time::PS);
}
} // namespace reference
