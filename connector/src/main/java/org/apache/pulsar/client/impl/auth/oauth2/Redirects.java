package org.apache.pulsar.client.impl.auth.oauth2;

import java.io.IOException;
import org.apache.pulsar.client.api.PulsarClientException;
import org.asynchttpclient.AsyncHttpClient;
import org.asynchttpclient.DefaultAsyncHttpClient;
import org.asynchttpclient.DefaultAsyncHttpClientConfig;

/** Redirects in the requests of OAuth 2.0. The client of Pulsar 5 sends them otherwise: see its class in src/next. */
final class Redirects {
    private Redirects() {}

    /** Refuses to follow any. */
    static void refuse(FlowBase steps) throws PulsarClientException {
        try (AsyncHttpClient client = steps.httpClient) {
            steps.httpClient = new DefaultAsyncHttpClient(
                new DefaultAsyncHttpClientConfig.Builder(client.getConfig()).setFollowRedirect(false).build());
        } catch (IOException e) {
            throw new PulsarClientException(e);
        }
    }
}
