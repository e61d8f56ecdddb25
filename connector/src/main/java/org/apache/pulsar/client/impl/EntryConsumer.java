package org.apache.pulsar.client.impl;

import io.github.pulsarspark.pulsar.feed.EntryFeed;
import io.github.pulsarspark.pulsar.feed.WaitingRoom;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.PulsarClientException;

/**
 * A non-durable consumer that hands out stored entries as the broker sends them. The queue is kept over a reconnect.
 *
 * <p>Permits count messages and cannot be taken back, so messages that suddenly are much larger may be more than memory
 * can hold. An entry that finds no room is dropped and ends the subscription: what waits can still be taken, then the
 * consumer is gone, and its user opens another one there.
 */
public final class EntryConsumer extends PartitionConsumer implements EntryFeed {

    private final EntryQueue queue;
    private boolean overflowed;
    private boolean gathering;
    private Runnable listener; // null for none

    private EntryConsumer(
        PulsarClientImpl client,
        FeedRequest request,
        long mostBytes,
        CompletableFuture<Consumer<byte[]>> subscribed) {
        super(client, request, request.configuration(), subscribed, null);
        queue = new EntryQueue(mostBytes);
    }

    /**
     * Subscribes, paused: call {@link #resume()} to let entries arrive.
     *
     * @param mostBytes the most bytes of entries that may wait to be taken, or one entry
     */
    public static CompletableFuture<EntryConsumer> open(PulsarClientImpl client, FeedRequest request, long mostBytes) {
        CompletableFuture<Consumer<byte[]>> subscribed = new CompletableFuture<>();
        EntryConsumer consumer = new EntryConsumer(client, request, mostBytes, subscribed);
        consumer.connect();
        return subscribed.thenApply(ignored -> consumer);
    }

    @Override
    void repeated(int messages, ClientCnx from) {
        if (!overflowed) {
            sendPermits(from, messages);
        }
    }

    @Override
    boolean hasRoomFor(ByteBuf buffer) {
        if (!overflowed && !queue.reserve(buffer.readableBytes())) {
            overflowed = true;
            unsubscribed(); // what waits is taken first
        }
        return !overflowed;
    }

    @Override
    void arrived(Place place, int messages, ByteBuf buffer) {
        queue.add(new Entry(place.ledgerId(), place.entryId(), messages, buffer.retain(), session()));
        if (gathering) {
            lock.notifyAll();
        }
        if (listener != null) {
            listener.run();
        }
    }

    @Override
    void sessionBegan() { }

    /** The user of the first session requests the bounds. */
    @Override
    boolean provesAtOnce(int began) {
        return began > 1;
    }

    @Override
    void discarded() {
        queue.releaseAll();
    }

    @Override
    public Entry poll(long time, TimeUnit unit) throws InterruptedException, PulsarClientException {
        Entry entry = queue.poll(isGone() ? 0 : time, unit); // nothing arrives any more
        if (entry == null && isGone()) {
            throw new PulsarClientException.AlreadyClosedException("The broker closed the consumer of " + topic + ".");
        }
        return entry;
    }

    @Override
    public void onArrival(Runnable called) {
        synchronized (lock) {
            listener = called;
        }
    }

    @Override
    public int queuedMessages() {
        return queue.messages();
    }

    @Override
    public long queuedBytes() {
        return queue.bytes();
    }

    @Override
    public boolean waitIn(WaitingRoom room) {
        synchronized (lock) {
            return queue.waitIn(room);
        }
    }

    @Override
    public void leaveRoom() {
        synchronized (lock) {
            queue.leaveRoom();
        }
    }

    @Override
    public void gather(Place until, int messages, long millis) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        synchronized (lock) {
            gathering = true;
            try {
                long left = millis;
                while (left > 0 && queue.messages() < messages
                    && (newest() == null || newest().isBefore(until.ledgerId(), until.entryId()))) {
                    lock.wait(left);
                    left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                }
            } finally {
                gathering = false;
            }
        }
    }

    @Override
    public void grant(Entry taken, int messages) {
        synchronized (lock) {
            if (taken.session() == session()) {
                sendPermits(cnx(), messages);
            }
        }
    }
}
