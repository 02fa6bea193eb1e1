/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A peer that may say anything: the other end of a virtual cable, on which it
 * writes whole frames and hears all of ours.  Layouts: InfiniBand architecture
 * specification volume 1, 9.2 and 9.3 (transport headers), 13.4 (management
 * datagrams), 12.6 (messages of the communication manager); annex A17 (RoCEv2).
 */
#ifndef CM_PEER_H
#define CM_PEER_H

#include <endian.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include "rcm_test.h"

#define CM_CABLE   "cm0"
#define CM_FAR_END "cm1"
#define CM_HOST	   "10.83.0.1"
#define CM_PEER	   "10.83.0.2"
#define CM_HOST6   "fd83::1"
#define CM_PEER6   "fd83::2"

enum cm_message {
	CM_REQ = 0x10,
	CM_MRA,
	CM_REJ,
	CM_REP,
	CM_RTU,
	CM_DREQ,
	CM_DREP,
	CM_SIDR_REQ,
	CM_SIDR_REP,
	CM_LAP,
	CM_APR,
};

/* A datagram: common header, then the message. */
struct cm_mad {
	__u8 base_version;
	__u8 class;
	__u8 class_version;
	__u8 method;
	__be16 status;
	__be16 unused;
	__be64 tid;
	__be16 attribute;
	__be16 reserved;
	__be32 modifier;
	__u8 data[232];
};

/* Where what is in a message's data; bits where a member shares its byte. */
enum {
	CM_LOCAL_ID = 0,
	CM_REMOTE_ID = 4,

	CM_REQ_SERVICE = 8,
	CM_REQ_QPN = 32, /* three bytes, then responder resources */
	CM_REQ_DEPTH = 39,
	CM_REQ_FLAGS = 43, /* response time-out 5, transport 2, flow control */
	CM_REQ_PSN = 44,
	CM_REQ_RETRY = 47, /* response time-out 5, retry count 3 */
	CM_REQ_PKEY = 48,
	CM_REQ_MTU = 50,   /* MTU 4, RDC 1, RNR retries 3 */
	CM_REQ_TRIES = 51, /* tries 4, SRQ 1, extended transport 3 */
	CM_REQ_FROM_GID = 56,
	CM_REQ_TO_GID = 72,
	CM_REQ_RATE = 91, /* two bits of nothing, then the rate */
	CM_REQ_HOPS = 93,
	CM_REQ_ACK = 95,
	CM_REQ_DATA = 140,

	CM_REP_QPN = 12,
	CM_REP_PSN = 20,
	CM_REP_RESOURCES = 24,
	CM_REP_DEPTH = 25,
	CM_REP_ACK = 26,
	CM_REP_RETRY = 27,
	CM_REP_DATA = 36,

	CM_REJ_WHAT = 8, /* two bits */
	CM_REJ_REASON = 10,
	CM_REJ_DATA = 84,

	CM_DREQ_QPN = 8,

	CM_MRA_WHAT = 8,
	CM_MRA_TIMEOUT = 9,
};

/* What a frame on the cable looks like. */
struct cm_frame {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
	__u8 bth[12];
	__u8 deth[8];
	struct cm_mad mad;
	__u8 icrc[4];
} __attribute__((packed));

struct cm_peer {
	int fd;
	__u8 mac[ETH_ALEN];
	__u8 host_mac[ETH_ALEN];
	__u32 last_id;
};

static inline void put32(void *at, __u32 value)
{
	__be32 be = htobe32(value);

	memcpy(at, &be, sizeof(be));
}

static inline __u32 get32(const void *at)
{
	__be32 be;

	memcpy(&be, at, sizeof(be));
	return be32toh(be);
}

/* Of three bytes; the fourth stays. */
static inline void put24(void *at, __u32 value)
{
	put32(at, value << 8 | ((__u8 *)at)[3]);
}

static inline void gid_of(__u8 gid[16], const char *ip4)
{
	memset(gid, 0, 10);
	memset(gid + 10, 0xff, 2);
	inet_pton(AF_INET, ip4, gid + 12);
}

/* How many messages the kernel sent: "rej", "drep" ...; or a negative errno. */
static inline long cm_sent(const char *message)
{
	char path[128];
	long count = -EINVAL;
	FILE *file;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/x" CM_CABLE "/ports/1/cm_tx_msgs/%s",
		 message);
	file = fopen(path, "r");
	if (!file)
		return -errno;
	if (fscanf(file, "%ld", &count) != 1)
		count = -EINVAL;
	fclose(file);
	return count;
}

/* Once for all tests: harness children end without destructors. */
__attribute__((constructor)) static void cm_lay_cable(void)
{
	del_link(CM_CABLE);
	sh("{ modprobe veth; "
	   "ip link add " CM_CABLE " type veth peer name " CM_FAR_END " && "
	   "ip address add " CM_HOST "/24 dev " CM_CABLE " && "
	   "ip address add " CM_HOST6 "/64 nodad dev " CM_CABLE " && "
	   "ip link set " CM_CABLE " up && ip link set " CM_FAR_END " up && "
	   "rdma link add x" CM_CABLE " type rxe netdev " CM_CABLE
	   "; } 2>&1 | sed 's/^/# /'");
	sh("ip neighbour replace " CM_PEER " dev " CM_CABLE " nud permanent "
	   "lladdr $(cat /sys/class/net/" CM_FAR_END "/address)");
	wait_for_address(CM_HOST);
}

__attribute__((destructor)) static void cm_take_cable(void)
{
	del_link(CM_CABLE);
}

static inline int mac_of(const char *name, __u8 mac[ETH_ALEN])
{
	struct ifreq ifr = {};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int ret;

	strncpy(ifr.ifr_name, name, sizeof(ifr.ifr_name) - 1);
	ret = ioctl(fd, SIOCGIFHWADDR, &ifr) ? -errno : 0;
	close(fd);
	memcpy(mac, ifr.ifr_hwaddr.sa_data, ETH_ALEN);
	return ret;
}

static inline void cm_peer_close(struct cm_peer *peer)
{
	close(peer->fd);
}

/* 0 or a negative errno. */
static inline int cm_peer_open(struct cm_peer *peer)
{
	struct sockaddr_ll end = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = if_nametoindex(CM_FAR_END),
	};
	int ret;

	memset(peer, 0, sizeof(*peer));
	peer->last_id = getpid() << 12;
	ret = mac_of(CM_CABLE, peer->host_mac) ?: mac_of(CM_FAR_END, peer->mac);
	if (ret)
		return ret;
	peer->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_IP));
	if (peer->fd < 0)
		return -errno;
	if (bind(peer->fd, (struct sockaddr *)&end, sizeof(end))) {
		ret = -errno;
		close(peer->fd);
	}
	return ret;
}

static inline __u32 crc32_of(const void *start, size_t len)
{
	const __u8 *byte = start;
	__u32 crc = 0xffffffff;
	int i;

	while (len--) {
		crc ^= *byte++;
		for (i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static inline __be16 ip_checksum(const void *ip)
{
	const __u8 *byte = ip;
	__u32 sum = 0;
	int i;

	for (i = 0; i < 20; i += 2)
		sum += byte[i] << 8 | byte[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htobe16(~sum);
}

/* What may change on the way, and the missing link header, count as ones. */
static inline void cm_put_icrc(struct cm_frame *frame, __u8 *at, size_t len)
{
	__u8 buffer[8 + sizeof(*frame)];
	struct cm_frame *copy = (void *)(buffer + 8 - sizeof(frame->eth));
	size_t start = sizeof(frame->eth);
	__le32 icrc;

	memcpy(buffer + 8, (__u8 *)frame + start, len - start);
	memset(buffer, 0xff, 8);
	copy->ip.tos = 0xff;
	copy->ip.ttl = 0xff;
	copy->ip.check = 0xffff;
	copy->udp.check = 0xffff;
	copy->bth[4] = 0xff;
	icrc = htole32(crc32_of(buffer, 8 + len - start));
	memcpy(at, &icrc, sizeof(icrc));
}

/* Says @mad, of which only the first @len bytes, a multiple of 4, are there. */
static inline int cm_say_some(struct cm_peer *peer, const struct cm_mad *mad,
			      size_t len)
{
	struct cm_frame frame = {
		.eth.h_proto = htobe16(ETH_P_IP),
		.ip = {
			.version = 4,
			.ihl = 5,
			.ttl = 64,
			.protocol = IPPROTO_UDP,
			.saddr = inet_addr(CM_PEER),
			.daddr = inet_addr(CM_HOST),
		},
		.udp = {
			.source = htobe16(49152),
			.dest = htobe16(4791),
		},
		.bth = { 0x64, 0, 0xff, 0xff, [7] = 1 },
		.deth = { 0x80, 1, 0, 0, [7] = 1 },
		.mad = *mad,
	};
	size_t end = offsetof(struct cm_frame, mad) + len;
	ssize_t ret;

	memcpy(frame.eth.h_dest, peer->host_mac, ETH_ALEN);
	memcpy(frame.eth.h_source, peer->mac, ETH_ALEN);
	end += sizeof(frame.icrc);
	frame.ip.tot_len = htobe16(end - offsetof(struct cm_frame, ip));
	frame.udp.len = htobe16(end - offsetof(struct cm_frame, udp));
	frame.ip.check = ip_checksum(&frame.ip);
	cm_put_icrc(&frame, (__u8 *)&frame + end - 4, end - 4);
	ret = send(peer->fd, &frame, end, 0);
	if (ret == (ssize_t)end)
		return 0;
	return ret < 0 ? -errno : -EIO;
}

static inline int cm_say(struct cm_peer *peer, const struct cm_mad *mad)
{
	return cm_say_some(peer, mad, sizeof(*mad));
}

static inline struct cm_mad cm_mad(struct cm_peer *peer, enum cm_message what)
{
	return (struct cm_mad){
		.base_version = 1,
		.class = 7,
		.class_version = 2,
		.method = 3,
		.tid = htobe64(++peer->last_id),
		.attribute = htobe16(what),
	};
}

/* A message on a connection, ours first. */
static inline struct cm_mad cm_about(struct cm_peer *peer, enum cm_message what,
				     __u32 ours, __u32 theirs)
{
	struct cm_mad mad = cm_mad(peer, what);

	put32(&mad.data[CM_LOCAL_ID], ours);
	put32(&mad.data[CM_REMOTE_ID], theirs);
	return mad;
}

/* A header of the RDMA IP CM service. */
static inline void cm_put_header(__u8 *at, const char *src, const char *dst,
				 int port)
{
	addr_t from = addr(src, port), to = addr(dst, 0);

	memset(at, 0, 36);
	at[2] = port >> 8;
	at[3] = port;
	if (from.ss_family == AF_INET) {
		at[1] = 4 << 4;
		memcpy(at + 16, &((struct sockaddr_in *)&from)->sin_addr, 4);
		memcpy(at + 32, &((struct sockaddr_in *)&to)->sin_addr, 4);
	} else {
		at[1] = 6 << 4;
		memcpy(at + 4, &((struct sockaddr_in6 *)&from)->sin6_addr, 16);
		memcpy(at + 20, &((struct sockaddr_in6 *)&to)->sin6_addr, 16);
	}
}

static inline void cm_put_service(__u8 *at, int ps, int port)
{
	put32(at, 0);
	put32(at + 4, 1 << 24 | ps << 16 | port);
}

/* A request that there is nothing to say against. */
static inline struct cm_mad cm_request(struct cm_peer *peer, int port)
{
	struct cm_mad mad = cm_mad(peer, CM_REQ);
	__u8 *data = mad.data;

	put32(data + CM_LOCAL_ID, ++peer->last_id);
	cm_put_service(data + CM_REQ_SERVICE, PS_TCP, port);
	put24(data + CM_REQ_QPN, new_qp_num());
	data[CM_REQ_QPN + 3] = 1;
	data[CM_REQ_DEPTH] = 1;
	data[CM_REQ_FLAGS] = 18 << 3;
	put24(data + CM_REQ_PSN, 0x123456);
	data[CM_REQ_RETRY] = 18 << 3 | 7;
	data[CM_REQ_PKEY] = 0xff;
	data[CM_REQ_PKEY + 1] = 0xff;
	data[CM_REQ_MTU] = 3 << 4 | 7;
	data[CM_REQ_TRIES] = 15 << 4;
	gid_of(data + CM_REQ_FROM_GID, CM_PEER);
	gid_of(data + CM_REQ_TO_GID, CM_HOST);
	data[CM_REQ_RATE] = 3;
	data[CM_REQ_HOPS] = 64;
	data[CM_REQ_ACK] = 16 << 3;
	cm_put_header(data + CM_REQ_DATA, CM_PEER, CM_HOST, 4242);
	return mad;
}

/* The next message to the peer of that kind: 0, or -ETIME. */
static inline int cm_hear(struct cm_peer *peer, enum cm_message what,
			  struct cm_mad *mad, int timeout_ms)
{
	long long end = now_ms() + timeout_ms, left;
	struct cm_frame frame;

	while ((left = end - now_ms()) >= 0) {
		struct sockaddr_ll from;
		socklen_t size = sizeof(from);
		ssize_t len;

		if (!readable(peer->fd, left))
			break;
		len = recvfrom(peer->fd, &frame, sizeof(frame), 0,
			       (struct sockaddr *)&from, &size);
		if (len < (ssize_t)offsetof(struct cm_frame, icrc) ||
		    from.sll_pkttype == PACKET_OUTGOING ||
		    frame.ip.protocol != IPPROTO_UDP ||
		    frame.udp.dest != htobe16(4791))
			continue;
		*mad = frame.mad;
		if (mad->class == 7 && be16toh(mad->attribute) == what)
			return 0;
	}
	return -ETIME;
}

/* What was said to the peer so far does not matter. */
static inline void cm_forget(struct cm_peer *peer)
{
	char packet[64];

	while (recv(peer->fd, packet, sizeof(packet), MSG_DONTWAIT) > 0)
		;
}

#endif /* CM_PEER_H */
