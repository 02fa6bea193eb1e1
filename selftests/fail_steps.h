/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Something fails, of a kind that the program says (struct way), while a flow
 * runs; what its steps have in common: a call that fails says so and can be made
 * again; what fails later ends in an event.
 */
#ifndef FAIL_STEPS_H
#define FAIL_STEPS_H

#include "rcm_test.h"

#include "kselftest.h"

#define PORT  7481
#define MAX_N 300
#define WAIT  80000 /* a peer that is still thinking has 69 s, by ib_cm */
#define FILES 3
#define QUEUE 16

struct world;

/**
 * struct way - a way to fail
 * @arm: the n-th from now on fails; false: it cannot be chosen
 * @was_hit: whether it did
 * @disarm: none fails any more
 * @explains: whether what failed is a reason for this negative errno
 * @what: what failed last, for people to read
 * @idle: false: a thread hangs; it may take as long as a thread needs
 * @fits: whether what became of it is what has to become of it, in this flow
 * @quick: it has few points
 */
struct way {
	bool (*arm)(int n);
	bool (*was_hit)(void);
	void (*disarm)(void);
	bool (*explains)(int ret);
	const char *(*what)(void);
	bool (*idle)(void);
	bool (*fits)(const struct world *w, const char *flow);
	bool quick;
};

static const struct way way;

struct world {
	int fd[FILES];
	struct rcm_event queue[FILES][QUEUE]; /* read, but not waited for yet */
	int queued[FILES];
	struct rcm_event event; /* the last one waited for */
	int told;		/* calls that said what failed */
	const char *ended; /* the flow ended early, by this event or call */
	char wrong[200];   /* what must not happen */
};

static void wrong(struct world *w, const char *what, int ret)
{
	if (!w->wrong[0])
		snprintf(w->wrong, sizeof(w->wrong), "%s: %d (%s)", what, ret,
			 ret < 0 ? strerror(-ret) : "event");
}

/*
 * A call that says what failed changed nothing: made again, it succeeds. Any
 * other failure is wrong, and ends the flow.
 */
#define TRY(call)                              \
	({                                     \
		int ret_ = (call);             \
                                               \
		if (way.explains(ret_)) {      \
			w->told++;             \
			ret_ = (call);         \
		}                              \
		if (ret_ < 0) {                \
			wrong(w, #call, ret_); \
			return;                \
		}                              \
		ret_;                          \
	})

static bool ends_it(int type)
{
	return type == EV_ADDR_ERROR || type == EV_ROUTE_ERROR ||
	       type == EV_CONNECT_ERROR || type == EV_UNREACHABLE ||
	       type == EV_REJECTED || type == EV_DISCONNECTED;
}

/*
 * What succeeded has no status. What did not has the reason, the peer's (not
 * negative), or that it took too long.
 */
static bool status_fits(const struct rcm_event *event)
{
	int status = event->out_status;

	if (!ends_it(event->out_event))
		return !status;
	/* What iw_cm says of any refusal. */
	if (event->out_event == EV_REJECTED && status == -ECONNRESET)
		return true;
	return status >= 0 || status == -ETIMEDOUT || way.explains(status);
}

static const char *event_name(int type)
{
	static const char *const names[] = {
		[EV_ADDR_ERROR] = "ADDR_ERROR",
		[EV_ROUTE_ERROR] = "ROUTE_ERROR",
		[EV_CONNECT_ERROR] = "CONNECT_ERROR",
		[EV_UNREACHABLE] = "UNREACHABLE",
		[EV_REJECTED] = "REJECTED",
		[EV_DISCONNECTED] = "DISCONNECTED",
	};

	return names[type];
}

/* Reads what there is. */
static void collect(struct world *w, int timeout_ms)
{
	struct pollfd pfd[FILES];
	struct rcm_event event;
	int i, ret;

	for (i = 0; i < FILES; i++)
		pfd[i] = (struct pollfd){ .fd = w->fd[i], .events = POLLIN };
	poll(pfd, FILES, timeout_ms);
	for (i = 0; i < FILES; i++) {
		while (w->queued[i] < QUEUE) {
			ret = get_event(w->fd[i], &event, RCM_EVENT_DONTWAIT);
			if (way.explains(ret)) {
				w->told++;
				continue;
			}
			if (ret && ret != -EAGAIN)
				wrong(w, "get_event", ret);
			if (ret)
				break;
			if (!status_fits(&event))
				wrong(w, "status of an event",
				      event.out_status);
			/* At most once, and not to be relied on. */
			if (event.out_event != EV_TIMEWAIT_EXIT)
				w->queue[i][w->queued[i]++] = event;
		}
	}
}

/* The next event of file @i has to be @type; false: the flow is over. */
static bool wait_event(struct world *w, int i, int type)
{
	long long end = now_ms() + WAIT;
	int n;

	for (;;) {
		collect(w, 0);
		if (w->queued[i]) {
			w->event = w->queue[i][0];
			w->queued[i]--;
			memmove(w->queue[i], w->queue[i] + 1,
				w->queued[i] * sizeof(w->event));
			/* As was wanted, though not because of what came. */
			if ((int)w->event.out_event == type) {
				if (w->event.out_status &&
				    type == EV_DISCONNECTED)
					w->ended = event_name(type);
				return true;
			}
			if (!ends_it(w->event.out_event))
				wrong(w, "unexpected event",
				      w->event.out_event);
			else
				w->ended = event_name(w->event.out_event);
			return false;
		}
		for (n = 0; n < FILES; n++) {
			if (!w->queued[n] || !ends_it(w->queue[n][0].out_event))
				continue;
			w->ended = event_name(w->queue[n][0].out_event);
			return false;
		}
		if (w->wrong[0])
			return false;
		if (now_ms() > end) {
			wrong(w, "no event of file", i);
			return false;
		}
		collect(w, end - now_ms());
	}
}

#define EVENT(i, type)                       \
	do {                                 \
		if (!wait_event(w, i, type)) \
			return;              \
	} while (0)

#endif /* FAIL_STEPS_H */
