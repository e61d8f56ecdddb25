package org.apache.pulsar.client.impl;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.resolver.NameResolver;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.apache.pulsar.client.api.Authentication;
import org.apache.pulsar.client.api.AuthenticationDataProvider;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.client.impl.conf.ClientConfigurationData;
import org.apache.pulsar.common.util.ObjectMapperFactory;
import org.asynchttpclient.AsyncHandler;
import org.asynchttpclient.BoundRequestBuilder;
import org.asynchttpclient.HttpResponseBodyPart;
import org.asynchttpclient.HttpResponseStatus;

/**
 * Sends requests to Pulsar's admin REST service with the client's own HTTP client, which checks certificates and
 * balances over hosts as the client does for lookups. It lives in the client's package because that HTTP client's
 * constructor is not public. The admin client proper would bring a second HTTP stack of several megabytes for a handful
 * of requests. The request itself is made here, because the client's own drops the status of a refusal.
 */
public final class AdminHttp extends HttpClient {

    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);

    private final NameResolver<InetAddress> names;

    private final Optional<Authentication> own;

    private AdminHttp(PulsarClientImpl client, ClientConfigurationData conf, Optional<Authentication> own)
        throws PulsarClientException {
        super(conf, client.eventLoopGroup(), client.timer(), client.getNameResolver());
        names = client.getNameResolver();
        this.own = own;
    }

    /**
     * Shares threads and settings of {@code client}; does not connect yet.
     *
     * @param url one or more hosts, {@code http(s)://host:port[,host:port]}
     * @param own credentials of the admin service, which this object closes; else those of {@code client}
     */
    public static AdminHttp open(PulsarClientImpl client, String url, Optional<Authentication> own)
        throws PulsarClientException {
        ClientConfigurationData conf = client.getConfiguration().clone();
        conf.setServiceUrl(url);
        if (own.isPresent()) {
            own.get().start();
            conf.setAuthentication(own.get());
        }
        try {
            return new AdminHttp(client, conf, own);
        } catch (PulsarClientException | RuntimeException e) {
            if (own.isPresent()) {
                try {
                    own.get().close();
                } catch (IOException closing) {
                    e.addSuppressed(closing);
                }
            }
            throw e;
        }
    }

    @Override
    public void close() throws IOException {
        try {
            super.close();
        } finally {
            if (own.isPresent()) {
                own.get().close();
            }
        }
    }

    /**
     * Takes the body of a response as it arrives, on the client's threads, so that it is never in memory as a whole.
     */
    public interface Body<T> {

        /** The bytes are this call's alone. */
        void read(byte[] bytes) throws IOException;

        /** Returns the result after the last byte of the body. */
        T end() throws IOException;
    }

    /** {@code read} as a tree of JSON. */
    public CompletableFuture<JsonNode> get(String path) {
        return read(path, JsonBody::new);
    }

    /**
     * Sends a GET request; fails with {@code PulsarClientException.NotFoundException} if the resource does not exist,
     * and with its {@code AuthenticationException} or {@code AuthorizationException} if the service requires
     * credentials or refuses them.
     *
     * @param path from the root, without a leading slash, encoded
     * @param body creates the reader of the response
     */
    public <T> CompletableFuture<T> read(String path, Supplier<? extends Body<T>> body) {
        return request(path, new Request("GET", null), body);
    }

    /**
     * Sends a request that changes a resource; fails as {@code read} does, and with {@code Refused} where the service
     * has another reason.
     *
     * @param method {@code PUT}, {@code POST} or {@code DELETE}
     * @param path from the root, without a leading slash, encoded
     * @param json the body; null without one
     */
    public CompletableFuture<Void> change(String method, String path, String json) {
        return request(path, new Request(method, json), NoBody::new);
    }

    private <T> CompletableFuture<T> request(String path, Request request, Supplier<? extends Body<T>> body) {
        try {
            URI host = serviceNameResolver.resolveHostUri();
            InetSocketAddress address = InetSocketAddress.createUnresolved(host.getHost(), host.getPort());
            return ask(request, host.resolve("/" + path), address, clientConf.getMaxLookupRedirects(), body);
        } catch (Exception e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** A method with its body. */
    private record Request(String method, String json) { }

    /** A refusal that is neither of credentials nor of a resource that does not exist. */
    public static final class Refused extends PulsarClientException {
        private static final long serialVersionUID = 1L;

        private final int status;

        private Refused(int status, String reason) {
            super("HTTP status " + status + ": " + reason);
            this.status = status;
        }

        /** The status of the response. */
        public int status() {
            return status;
        }
    }

    /**
     * Sends the request to one host. A broker redirects it to the owner of the topic, which needs the credentials, too.
     */
    private <T> CompletableFuture<T> ask(
        Request request, URI uri, InetSocketAddress first, int redirects, Supplier<? extends Body<T>> body) {
        return send(request, uri, body)
            .whenComplete((answer, e) -> serviceNameResolver.markHostAvailability(first, e == null))
            .thenCompose(answer -> {
                if (!REDIRECTS.contains(answer.status) || answer.location == null || redirects == 0) {
                    return answer.isDone()
                        ? CompletableFuture.completedFuture(answer.value)
                        : CompletableFuture.failedFuture(refusal(answer));
                }
                URI next = uri.resolve(answer.location);
                if ("https".equals(uri.getScheme()) && !"https".equals(next.getScheme())) {
                    // credentials would go with it
                    return CompletableFuture.failedFuture(
                        new PulsarClientException("it sends on to " + next.getAuthority() + ", which is not https"));
                }
                return ask(request, next, first, redirects - 1, body);
            });
    }

    private <T> CompletableFuture<Answer<T>> send(Request sent, URI uri, Supplier<? extends Body<T>> body) {
        try {
            BoundRequestBuilder request = httpClient.prepare(sent.method, uri.toString()).setNameResolver(names)
                .setHeader("Accept", "application/json");
            if (sent.json != null) {
                request.setHeader("Content-Type", "application/json").setBody(sent.json);
            }
            if (clientConf.getOriginalPrincipal() != null) {
                request.addHeader("X-Original-Principal", clientConf.getOriginalPrincipal());
            }
            AuthenticationDataProvider data = authentication.getAuthData(uri.getHost());
            if (!data.hasDataForHttp()) {
                return request.execute(new Answer<>(body.get())).toCompletableFuture();
            }
            CompletableFuture<Map<String, String>> stage = new CompletableFuture<>();
            authentication.authenticationStage(uri.toString(), data, null, stage);
            return stage.thenCompose(said -> {
                authorize(request, uri, data, said);
                return request.execute(new Answer<>(body.get())).toCompletableFuture();
            });
        } catch (Exception e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void authorize(
        BoundRequestBuilder request, URI uri, AuthenticationDataProvider data, Map<String, String> said) {
        try {
            Set<Map.Entry<String, String>> headers = authentication.newRequestHeader(uri.toString(), data, said);
            if (headers != null) {
                headers.forEach(header -> request.addHeader(header.getKey(), header.getValue()));
            }
        } catch (Exception e) {
            throw new CompletionException(e);
        }
    }

    private static PulsarClientException refusal(Answer<?> answer) {
        String reason = reason(answer);
        switch (answer.status) {
            case 401:
                return new PulsarClientException.AuthenticationException(reason);
            case 403:
                return new PulsarClientException.AuthorizationException(reason);
            case 404:
                return new PulsarClientException.NotFoundException("Not found: " + reason);
            default:
                return new Refused(answer.status, reason);
        }
    }

    /** Brokers give a reason as JSON, the server around them a message, others nothing but a status. */
    private static String reason(Answer<?> answer) {
        try {
            JsonNode body = answer.refusal.end();
            for (String name : new String[] {"reason", "message"}) {
                if (body.path(name).isTextual()) {
                    return body.path(name).asText();
                }
            }
        } catch (IOException notJson) {
            return answer.statusText;
        }
        return answer.statusText;
    }

    private static final class JsonBody implements Body<JsonNode> {
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

    private static final class NoBody implements Body<Void> {
        @Override
        public void read(byte[] more) { }

        @Override
        public Void end() {
            return null;
        }
    }

    /** The response of one host. The client calls it from one thread at a time. */
    private static final class Answer<T> implements AsyncHandler<Answer<T>> {
        private final Body<T> body;
        private final JsonBody refusal = new JsonBody();
        private int status;
        private String statusText;
        private String location;
        private T value;

        Answer(Body<T> body) {
            this.body = body;
        }

        boolean isDone() {
            return status >= 200 && status < 300;
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
        public Answer<T> onCompleted() throws IOException {
            if (isDone()) {
                value = body.end();
            }
            return this;
        }
    }
}
