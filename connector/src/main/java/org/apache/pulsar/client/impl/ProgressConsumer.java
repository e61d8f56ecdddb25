package org.apache.pulsar.client.impl;

import io.github.pulsarspark.pulsar.progress.ProgressFeed;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.CompletableFuture;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.SubscriptionMode;
import org.apache.pulsar.client.impl.conf.ConsumerConfigurationData;
import org.apache.pulsar.common.api.proto.CommandMessage;

/** The consumer of a durable subscription. It acknowledges positions, and drops the few entries that it is sent. */
public final class ProgressConsumer extends PositionConsumer implements ProgressFeed {

    private final int partition;
    private final Object places = new Object();
    private Place acknowledged;
    private int acknowledgedIn; // session
    private CompletableFuture<Arrival> first = new CompletableFuture<>(); // after the acknowledged one

    private ProgressConsumer(
        PulsarClientImpl client,
        FeedRequest request,
        ConsumerConfigurationData<byte[]> conf,
        CompletableFuture<Consumer<byte[]>> subscribed) {
        super(client, request, conf, null, subscribed);
        partition = request.partition();
    }

    /** Subscribes; creates the subscription at the first message of the topic. */
    public static CompletableFuture<ProgressConsumer> open(
        PulsarClientImpl client, String topic, int partition, String subscription) {
        MessageIdImpl start = new MessageIdImpl(-1, -1, -1);
        FeedRequest request = new FeedRequest(topic, partition, subscription, null, start, 1, false);
        ConsumerConfigurationData<byte[]> conf = request.configuration();
        conf.setSubscriptionMode(SubscriptionMode.Durable);
        conf.setSubscriptionInitialPosition(SubscriptionInitialPosition.Earliest);
        conf.setAckReceiptEnabled(true);
        CompletableFuture<Consumer<byte[]>> subscribed = new CompletableFuture<>();
        ProgressConsumer consumer = new ProgressConsumer(client, request, conf, subscribed);
        consumer.connect();
        return subscribed.thenApply(ignored -> consumer);
    }

    @Override
    void messageReceived(CommandMessage command, ByteBuf buffer, ClientCnx from) {
        Place arrived = new Place(command.getMessageId().getLedgerId(), command.getMessageId().getEntryId());
        synchronized (places) {
            if (from == cnx() && (acknowledged == null || isBefore(acknowledged, arrived))) {
                first.complete(new Arrival(arrived, acknowledged != null && acknowledgedIn == session()));
            }
        }
        super.messageReceived(command, buffer, from);
    }

    private static boolean isBefore(Place one, Place other) {
        return one.isBefore(other.ledgerId(), other.entryId());
    }

    @Override
    public CompletableFuture<Arrival> firstAfterAcknowledged() {
        synchronized (places) {
            return first.copy();
        }
    }

    @Override
    public CompletableFuture<Void> acknowledge(Place place) {
        synchronized (places) {
            if (!place.equals(acknowledged)) {
                acknowledged = place;
                acknowledgedIn = session();
            }
            if (first.isDone() && !isBefore(place, first.join().place())) {
                first = new CompletableFuture<>();
            }
        }
        return acknowledgeCumulativeAsync(new MessageIdImpl(place.ledgerId(), place.entryId(), partition));
    }

    /** Entries arrive one at a time, after {@link #awaitNext}. */
    @Override
    Place newestAndMore() {
        return newest();
    }

    @Override
    public void awaitNext() {
        synchronized (places) {
            if (!first.isDone()) { // else the next entry would arrive as if none were before it
                returnPermits();
            }
        }
        resume();
    }
}
