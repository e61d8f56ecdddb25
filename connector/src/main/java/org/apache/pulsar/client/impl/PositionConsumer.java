package org.apache.pulsar.client.impl;

import io.github.pulsarspark.common.BoundedActions;
import io.github.pulsarspark.pulsar.feed.PositionFeed;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.CompletableFuture;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.impl.conf.ConsumerConfigurationData;

/**
 * A consumer that drops the entries it is sent and remembers where the first one and the newest one are. It withholds
 * the permits of dropped entries, so the broker sends a first grant and no more.
 */
public class PositionConsumer extends PartitionConsumer implements PositionFeed {

    private final BoundedActions resubscriptions;
    private final WithheldPermits withheld = new WithheldPermits();

    PositionConsumer(
        PulsarClientImpl client,
        FeedRequest request,
        ConsumerConfigurationData<byte[]> conf,
        BoundedActions resubscriptions,
        CompletableFuture<Consumer<byte[]>> subscribed) {
        super(client, request, conf, subscribed,
            new Place(request.start().getLedgerId(), request.start().getEntryId()));
        this.resubscriptions = resubscriptions;
    }

    /**
     * Subscribes, paused: call {@link #resume()} to let entries arrive.
     *
     * @param resubscriptions what bounds how many consumers subscribe again at the same time, and makes each prove that
     *     its sessions are unbroken; null for a consumer that is closed at once
     */
    public static CompletableFuture<PositionConsumer> open(
        PulsarClientImpl client, FeedRequest request, BoundedActions resubscriptions) {
        CompletableFuture<Consumer<byte[]>> subscribed = new CompletableFuture<>();
        PositionConsumer consumer =
            new PositionConsumer(client, request, request.configuration(), resubscriptions, subscribed);
        consumer.connect();
        return subscribed.thenApply(ignored -> consumer);
    }

    @Override
    public CompletableFuture<Void> connectionOpened(ClientCnx connection) {
        return resubscriptions == null || session() == 0
            ? super.connectionOpened(connection)
            : resubscriptions.run(() -> super.connectionOpened(connection));
    }

    @Override
    void repeated(int messages, ClientCnx from) {
        if (first() == null) {
            sendPermits(from, messages);
        } else {
            withheld.add(messages);
        }
    }

    @Override
    boolean hasRoomFor(ByteBuf buffer) {
        return true;
    }

    @Override
    void arrived(Place place, int messages, ByteBuf buffer) {
        withheld.add(messages, buffer.readableBytes());
    }

    @Override
    void sessionBegan() {
        withheld.restart();
    }

    @Override
    boolean provesAtOnce(int began) {
        return resubscriptions != null;
    }

    @Override
    void discarded() { }

    /** The broker does not name the last entry, so more arrive to find it. */
    @Override
    Place newestAndMore() {
        synchronized (lock) {
            sendPermits(cnx(), withheld.takeMore());
            return newest();
        }
    }

    @Override
    public boolean waitAfter(Place after) {
        synchronized (lock) {
            boolean waits = beginAfter(after);
            if (waits) {
                returnPermits();
            }
            return waits;
        }
    }

    /** Returns the permits that dropped entries used. */
    void returnPermits() {
        synchronized (lock) {
            sendPermits(cnx(), withheld.takeAll());
        }
    }
}
