package org.apache.pulsar.client.impl;

import io.github.pulsarspark.pulsar.feed.EntryFeed.Entry;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Entries that arrived and wait to be taken, with their number of messages and bytes. */
final class EntryQueue {

    private final LinkedBlockingQueue<Entry> entries = new LinkedBlockingQueue<>();
    private final AtomicInteger messages = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();
    private final long most;

    /** Creates a queue for at most {@code most} bytes, or for one entry. */
    EntryQueue(long most) {
        this.most = most;
    }

    boolean hasRoomFor(int more) {
        return entries.isEmpty() || bytes.get() + more <= most;
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

    private Entry taken(Entry entry) {
        if (entry != null) {
            messages.addAndGet(-entry.messages());
            bytes.addAndGet(-entry.buffer().readableBytes());
        }
        return entry;
    }
}
