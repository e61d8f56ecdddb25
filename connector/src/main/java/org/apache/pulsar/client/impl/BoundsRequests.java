package org.apache.pulsar.client.impl;

import io.github.pulsarspark.pulsar.feed.PartitionFeed.Bounds;
import io.github.pulsarspark.pulsar.feed.PartitionFeed.Place;
import io.github.pulsarspark.pulsar.connection.LostConnection;
import io.github.pulsarspark.pulsar.connection.RepeatedRequest;
import io.netty.buffer.ByteBuf;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.common.api.proto.CommandGetLastMessageIdResponse;
import org.apache.pulsar.common.api.proto.MessageIdData;
import org.apache.pulsar.common.protocol.Commands;
import scala.concurrent.duration.FiniteDuration;

/**
 * A consumer's requests for the bounds of its topic. Unlike the client's own request, the response includes the cursor,
 * and a request without a response is repeated. For any thread.
 */
final class BoundsRequests {

    private final PartitionConsumer consumer;
    /** Requests that wait for a response, each with the session in which it was sent. */
    private final Map<CompletableFuture<Bounds>, Integer> unanswered = new ConcurrentHashMap<>();

    BoundsRequests(PartitionConsumer consumer) {
        this.consumer = consumer;
    }

    /** Repeats the request, as long as the client's operation timeout, when the topic moves to another broker. */
    CompletableFuture<Bounds> send() {
        FiniteDuration patience =
            FiniteDuration.apply(consumer.client.getConfiguration().getOperationTimeoutMs(), TimeUnit.MILLISECONDS);
        return RepeatedRequest.apply(patience, RepeatedRequest.Pause(),
            failure -> !consumer.isGone() && isPassing(failure), this::sendOnce);
    }

    /**
     * Fails the requests of earlier sessions, which {@link #send} then repeats. A broker that closes the topic may
     * never respond to them, as when it could not recover the topic's transactions.
     */
    void failBefore(int session) {
        unanswered.forEach((request, sent) -> {
            if (sent < session) {
                request.completeExceptionally(
                    new PulsarClientException("The broker let go of " + consumer.topic + " before it answered."));
            }
        });
    }

    /**
     * True for a failure that an unload or a lost connection causes: the broker does not know the consumer, or does not
     * respond.
     */
    private static boolean isPassing(Throwable failure) {
        boolean wraps = failure instanceof CompletionException && failure.getCause() != null;
        Throwable cause = wraps ? failure.getCause() : failure;
        return cause instanceof PulsarClientException.BrokerMetadataException
            || cause instanceof PulsarClientException.ConnectException
            || cause.getClass() == PulsarClientException.class
            || LostConnection.caused(failure);
    }

    private CompletableFuture<Bounds> sendOnce() {
        ClientCnx connection = consumer.cnx();
        if (!consumer.isConnected() || connection == null) {
            // the client's own method waits for the connection
            return consumer.getLastMessageIdsAsync().thenCompose(ignored -> sendOnce());
        }
        long requestId = consumer.client.newRequestId();
        CompletableFuture<Bounds> request = new CompletableFuture<>();
        int session = consumer.session();
        unanswered.put(request, session); // before it is sent, so that failBefore() finds it
        Place arrived = consumer.newestOf(session);
        ByteBuf command = Commands.newGetLastMessageId(consumer.consumerId, requestId);
        connection.sendGetLastMessageId(command, requestId).whenComplete((answer, failure) -> {
            if (failure != null) {
                request.completeExceptionally(failure);
            } else {
                Bounds bounds = toBounds(answer);
                consumer.answered(bounds, session);
                boolean isLate = arrived != null && bounds.isDisprovedBy(arrived);
                request.complete(isLate ? bounds.endingAt(consumer.newestAndMore()) : bounds);
            }
        });
        return request.whenComplete((answer, failure) -> unanswered.remove(request));
    }

    private static Bounds toBounds(CommandGetLastMessageIdResponse answer) {
        MessageIdData last = answer.getLastMessageId();
        boolean marked = answer.hasConsumerMarkDeletePosition();
        return new Bounds(last.getLedgerId(), last.getEntryId(),
            marked ? answer.getConsumerMarkDeletePosition().getLedgerId() : -1,
            marked ? answer.getConsumerMarkDeletePosition().getEntryId() : -1);
    }
}
