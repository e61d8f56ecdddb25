package io.github.pulsarspark.pulsar.feed;

import java.util.concurrent.atomic.AtomicLong;

/** Memory that feeds share while no task reads them. For any thread. */
public final class WaitingRoom {

    private final AtomicLong free;

    /** Creates a room of so many bytes. */
    public WaitingRoom(long bytes) {
        free = new AtomicLong(bytes);
    }

    /** Takes so many bytes, or none and returns false when fewer are free. */
    public boolean take(long bytes) {
        return free.getAndUpdate(now -> now < bytes ? now : now - bytes) >= bytes;
    }

    /** Gives back bytes that were taken. */
    public void giveBack(long bytes) {
        free.addAndGet(bytes);
    }

    /** The bytes that are free. */
    public long free() {
        return free.get();
    }
}
