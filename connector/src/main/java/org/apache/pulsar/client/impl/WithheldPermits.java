package org.apache.pulsar.client.impl;

/**
 * The permits that dropped entries used up in this session and that the broker has not been granted again. A feed that
 * only remembers positions drops every entry, so that the broker sends nothing beyond the first grant until somebody
 * asks for it. Permits count messages. For one thread at a time.
 */
final class WithheldPermits {

    /** Limits of the permits granted at a time while the last entry is found by receiving it. */
    private static final int MAX_MESSAGES = 1000;
    private static final int MAX_BYTES = 1 << 20;

    private int permits;
    private int largest = 1; // bytes of a message

    /** A broker to which the consumer subscribes gets a new grant. */
    void restart() {
        permits = 0;
    }

    /** Counts an entry that was dropped because it came before. */
    void add(int messages) {
        permits += messages;
    }

    /** Counts an entry of which only the position is remembered. */
    void add(int messages, int bytes) {
        permits += messages;
        largest = Math.max(largest, bytes / messages);
    }

    /** Takes all of them, to be granted again. */
    int takeAll() {
        int taken = Math.max(0, permits);
        permits -= taken;
        return taken;
    }

    /** Takes all of them and as many more as fit; what goes beyond those withheld is withheld from later ones. */
    int takeMore() {
        int taken = Math.max(0, Math.max(1, Math.min(MAX_MESSAGES, MAX_BYTES / largest)) + permits);
        permits -= taken;
        return taken;
    }
}
