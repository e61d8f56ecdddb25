package org.apache.pulsar.client.impl;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.resolver.NameResolver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.pulsar.client.api.AuthenticationDataProvider;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.client.impl.conf.ClientConfigurationData;
import org.apache.pulsar.common.util.ObjectMapperFactory;
import org.asynchttpclient.BoundRequestBuilder;
import org.asynchttpclient.Response;

/**
 * Questions to Pulsar's admin REST service with the client's own HTTP client, which checks certificates and balances over hosts as the client does for lookups. It
 * lives in the client's package because that HTTP client's constructor is not public; the admin client proper would bring a second HTTP stack of several megabytes
 * for a handful of GET requests. The request itself is made here, since the client's own drops the status of what is refused.
 */
public final class AdminHttp extends HttpClient {

    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);

    private final NameResolver<InetAddress> names;

    private AdminHttp(PulsarClientImpl client, ClientConfigurationData conf) throws PulsarClientException {
        super(conf, client.eventLoopGroup(), client.timer(), client.getNameResolver());
        names = client.getNameResolver();
    }

    /**
     * Shares threads, settings and credentials of {@code client}; does not connect yet.
     *
     * @param url one or more hosts, {@code http(s)://host:port[,host:port]}
     */
    public static AdminHttp open(PulsarClientImpl client, String url) throws PulsarClientException {
        ClientConfigurationData conf = client.getConfiguration().clone();
        conf.setServiceUrl(url);
        return new AdminHttp(client, conf);
    }

    /**
     * The answer to a GET request; fails with {@link PulsarClientException.NotFoundException} when there is no such thing, and with {@link
     * PulsarClientException.AuthenticationException} or {@link PulsarClientException.AuthorizationException} when the service wants to know who asks, or knows
     * and refuses.
     *
     * @param path from the root, without a leading slash, encoded
     */
    public CompletableFuture<JsonNode> get(String path) {
        try {
            URI host = serviceNameResolver.resolveHostUri();
            InetSocketAddress address = InetSocketAddress.createUnresolved(host.getHost(), host.getPort());
            return ask(host.resolve("/" + path), address, clientConf.getMaxLookupRedirects());
        } catch (Exception e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Asks one host; a broker sends those who ask on to the owner of the topic, which wants to know them, too. */
    private CompletableFuture<JsonNode> ask(URI uri, InetSocketAddress first, int redirects) {
        return send(uri)
            .whenComplete((response, e) -> serviceNameResolver.markHostAvailability(first, e == null))
            .thenCompose(response -> {
                String elsewhere = response.getHeader("Location");
                if (!REDIRECTS.contains(response.getStatusCode()) || elsewhere == null || redirects == 0) {
                    return answer(response);
                }
                URI next = uri.resolve(elsewhere);
                if ("https".equals(uri.getScheme()) && !"https".equals(next.getScheme())) {
                    // credentials would go with it
                    return CompletableFuture.failedFuture(new PulsarClientException("it sends on to " + next.getAuthority() + ", which is not https"));
                }
                return ask(next, first, redirects - 1);
            });
    }

    private CompletableFuture<Response> send(URI uri) {
        try {
            BoundRequestBuilder request =
                httpClient.prepareGet(uri.toString()).setNameResolver(names).setHeader("Accept", "application/json");
            if (clientConf.getOriginalPrincipal() != null) {
                request.addHeader("X-Original-Principal", clientConf.getOriginalPrincipal());
            }
            AuthenticationDataProvider data = authentication.getAuthData(uri.getHost());
            if (!data.hasDataForHttp()) {
                return request.execute().toCompletableFuture();
            }
            CompletableFuture<Map<String, String>> stage = new CompletableFuture<>();
            authentication.authenticationStage(uri.toString(), data, null, stage);
            return stage.thenCompose(said -> {
                authorize(request, uri, data, said);
                return request.execute().toCompletableFuture();
            });
        } catch (Exception e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void authorize(BoundRequestBuilder request, URI uri, AuthenticationDataProvider data, Map<String, String> said) {
        try {
            Set<Map.Entry<String, String>> headers = authentication.newRequestHeader(uri.toString(), data, said);
            if (headers != null) {
                headers.forEach(header -> request.addHeader(header.getKey(), header.getValue()));
            }
        } catch (Exception e) {
            throw new CompletionException(e);
        }
    }

    private static CompletableFuture<JsonNode> answer(Response response) {
        try {
            if (response.getStatusCode() == 200) {
                return CompletableFuture.completedFuture(read(response));
            }
            return CompletableFuture.failedFuture(refusal(response));
        } catch (IOException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static JsonNode read(Response response) throws IOException {
        return ObjectMapperFactory.getMapper().getObjectMapper().readTree(response.getResponseBodyAsBytes());
    }

    private static PulsarClientException refusal(Response response) {
        String reason = reason(response);
        switch (response.getStatusCode()) {
            case 401:
                return new PulsarClientException.AuthenticationException(reason);
            case 403:
                return new PulsarClientException.AuthorizationException(reason);
            case 404:
                return new PulsarClientException.NotFoundException("Not found: " + reason);
            default:
                return new PulsarClientException("HTTP status " + response.getStatusCode() + ": " + reason);
        }
    }

    /** Brokers give a reason as JSON, the server around them a message, others nothing but a status. */
    private static String reason(Response response) {
        try {
            JsonNode body = read(response);
            for (String name : new String[] {"reason", "message"}) {
                if (body.path(name).isTextual()) {
                    return body.path(name).asText();
                }
            }
        } catch (IOException notJson) {
            return response.getStatusText();
        }
        return response.getStatusText();
    }
}
