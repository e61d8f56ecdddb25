package org.apache.pulsar.client.impl;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.concurrent.CompletableFuture;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.client.impl.conf.ClientConfigurationData;

/**
 * Questions to Pulsar's admin REST service with the client's own HTTP client, which authenticates, checks certificates and follows redirects to the owner of a
 * topic as the client does for lookups. It lives in the client's package because that HTTP client's constructor is not public; the admin client proper would
 * bring a second HTTP stack of several megabytes for a handful of GET requests.
 */
public final class AdminHttp extends HttpClient {

    private AdminHttp(PulsarClientImpl client, ClientConfigurationData conf) throws PulsarClientException {
        super(conf, client.eventLoopGroup(), client.timer(), client.getNameResolver());
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
     * The answer to a GET request; fails with {@link PulsarClientException.NotFoundException} when there is no such thing.
     *
     * @param path from the root, without a leading slash, encoded
     */
    public CompletableFuture<JsonNode> get(String path) {
        return get(path, JsonNode.class);
    }
}
