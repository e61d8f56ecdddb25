package org.apache.pulsar.client.impl;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.common.util.ObjectMapperFactory;
import org.asynchttpclient.AsyncHandler;
import org.asynchttpclient.HttpResponseBodyPart;
import org.asynchttpclient.HttpResponseStatus;

/** The response of one host to a request of {@link AdminHttp}. The client calls it from one thread at a time. */
final class AdminResponse<T> implements AsyncHandler<AdminResponse<T>> {

    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);

    private final AdminHttp.Body<T> body;
    private final JsonBody refusal = new JsonBody();
    private int status;
    private String statusText;
    private String location;
    private T value;

    AdminResponse(AdminHttp.Body<T> body) {
        this.body = body;
    }

    /** Address to which the host sends the request on; null if it does not. */
    String redirect() {
        return REDIRECTS.contains(status) ? location : null;
    }

    /** The value of the body, or the failure that the status stands for. */
    CompletableFuture<T> result() {
        return isDone() ? CompletableFuture.completedFuture(value) : CompletableFuture.failedFuture(failure());
    }

    private boolean isDone() {
        return status >= 200 && status < 300;
    }

    private PulsarClientException failure() {
        String reason = reason();
        switch (status) {
            case 401:
                return new PulsarClientException.AuthenticationException(reason);
            case 403:
                return new PulsarClientException.AuthorizationException(reason);
            case 404:
                return new PulsarClientException.NotFoundException("Not found: " + reason);
            default:
                return new AdminHttp.Refused(status, reason);
        }
    }

    /** Brokers give a reason as JSON, the server around them a message, others nothing but a status. */
    private String reason() {
        try {
            JsonNode said = refusal.end();
            for (String name : new String[] {"reason", "message"}) {
                if (said.path(name).isTextual()) {
                    return said.path(name).asText();
                }
            }
        } catch (IOException notJson) {
            return statusText;
        }
        return statusText;
    }

    @Override
    public State onStatusReceived(HttpResponseStatus received) {
        status = received.getStatusCode();
        statusText = received.getStatusText();
        return State.CONTINUE;
    }

    @Override
    public State onHeadersReceived(HttpHeaders headers) {
        location = headers.get("Location");
        return State.CONTINUE;
    }

    @Override
    public State onBodyPartReceived(HttpResponseBodyPart part) throws IOException {
        (isDone() ? body : refusal).read(part.getBodyPartBytes());
        return State.CONTINUE;
    }

    @Override
    public void onThrowable(Throwable failure) { }

    @Override
    public AdminResponse<T> onCompleted() throws IOException {
        if (isDone()) {
            value = body.end();
        }
        return this;
    }

    /** A body of JSON, as a tree. */
    static final class JsonBody implements AdminHttp.Body<JsonNode> {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        @Override
        public void read(byte[] more) {
            bytes.writeBytes(more);
        }

        @Override
        public JsonNode end() throws IOException {
            return ObjectMapperFactory.getMapper().getObjectMapper().readTree(bytes.toByteArray());
        }
    }

    /** A body that nobody needs. */
    static final class NoBody implements AdminHttp.Body<Void> {
        @Override
        public void read(byte[] more) { }

        @Override
        public Void end() {
            return null;
        }
    }
}
