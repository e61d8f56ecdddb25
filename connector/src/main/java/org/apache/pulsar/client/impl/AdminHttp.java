package org.apache.pulsar.client.impl;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.pulsarspark.policy.AllowedHosts;
import io.netty.resolver.NameResolver;
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
import org.asynchttpclient.BoundRequestBuilder;

/**
 * Sends requests to Pulsar's admin REST service with the client's own HTTP client, which checks certificates and
 * balances over hosts as the client does for lookups. It lives in the client's package because that HTTP client's
 * constructor is not public. The admin client proper would bring a second HTTP stack of several megabytes for a handful
 * of requests. The request itself is made here, because the client's own drops the status of a refusal.
 */
public final class AdminHttp extends HttpClient {

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
        return read(path, AdminResponse.JsonBody::new);
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
        return request(path, new Request(method, json), AdminResponse.NoBody::new);
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

        Refused(int status, String reason) {
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
                String location = answer.redirect();
                if (location == null || redirects == 0) {
                    return answer.result();
                }
                URI next = uri.resolve(location);
                if ("https".equals(uri.getScheme()) && !"https".equals(next.getScheme())) {
                    // credentials would go with it
                    return CompletableFuture.failedFuture(
                        new PulsarClientException("it sends on to " + next.getAuthority() + ", which is not https"));
                }
                return ask(request, next, first, redirects - 1, body);
            });
    }

    private <T> CompletableFuture<AdminResponse<T>> send(Request sent, URI uri, Supplier<? extends Body<T>> body) {
        try {
            AllowedHosts.checkUrl("admin.url", uri.toString());
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
                return request.execute(new AdminResponse<>(body.get())).toCompletableFuture();
            }
            CompletableFuture<Map<String, String>> stage = new CompletableFuture<>();
            authentication.authenticationStage(uri.toString(), data, null, stage);
            return stage.thenCompose(said -> {
                authorize(request, uri, data, said);
                return request.execute(new AdminResponse<>(body.get())).toCompletableFuture();
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
}
