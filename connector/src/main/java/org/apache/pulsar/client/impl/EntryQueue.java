package org.apache.pulsar.client.impl;

import io.github.pulsarspark.pulsar.feed.EntryFeed.Entry;
import io.github.pulsarspark.pulsar.feed.WaitingRoom;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Entries that arrived and wait to be taken, with their number of messages and bytes. Entries are added, and a room
 * entered and left, by one thread at a time.
 */
final class EntryQueue {

    /** Bytes of a room that a queue takes when it is empty: about what its consumer needs. */
    private static final long LEAST_BYTES = 16 << 10;

    /** Memory for a byte of an entry, which is part of a network buffer that is up to twice as large as its entries. */
    private static final long NETWORK_FACTOR = 2;

    private final LinkedBlockingQueue<Entry> entries = new LinkedBlockingQueue<>();
    private final AtomicInteger messages = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();
    private final long most;
    private WaitingRoom room; // null while a task reads

    /** Creates a queue for at most {@code most} bytes, or for one entry. */
    EntryQueue(long most) {
        this.most = most;
    }

    /** Makes room for an entry of so many bytes, which is added next; false when there is none. */
    boolean reserve(int more) {
        return (entries.isEmpty() || bytes.get() + more <= most)
            && (room == null || room.take(NETWORK_FACTOR * more));
    }

    /** Takes memory of the room from now on; false when it has none for what waits. Nothing is polled meanwhile. */
    boolean waitIn(WaitingRoom shared) {
        boolean fits = shared.take(weight());
        if (fits) {
            room = shared;
        }
        return fits;
    }

    /** Gives back the memory of the room, if there is one. */
    void leaveRoom() {
        if (room != null) {
            room.giveBack(weight());
            room = null;
        }
    }

    void add(Entry entry) {
        messages.addAndGet(entry.messages());
        bytes.addAndGet(entry.buffer().readableBytes());
        entries.add(entry);
    }

    Entry poll(long time, TimeUnit unit) throws InterruptedException {
        return taken(entries.poll(time, unit));
    }

    void releaseAll() {
        leaveRoom();
        for (Entry entry = taken(entries.poll()); entry != null; entry = taken(entries.poll())) {
            entry.buffer().release();
        }
    }

    int messages() {
        return messages.get();
    }

    long bytes() {
        return bytes.get();
    }

    /** Memory that the consumer and its entries need. */
    private long weight() {
        return LEAST_BYTES + NETWORK_FACTOR * bytes.get();
    }

    private Entry taken(Entry entry) {
        if (entry != null) {
            messages.addAndGet(-entry.messages());
            bytes.addAndGet(-entry.buffer().readableBytes());
        }
        return entry;
    }
}
