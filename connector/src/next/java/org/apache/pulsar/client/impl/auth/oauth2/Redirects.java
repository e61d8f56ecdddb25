package org.apache.pulsar.client.impl.auth.oauth2;

import org.apache.pulsar.client.impl.auth.v5.FrameworkHttpClient;
import org.asynchttpclient.DefaultAsyncHttpClient;
import org.asynchttpclient.DefaultAsyncHttpClientConfig;

/**
 * Redirects in the requests of OAuth 2.0, as the client of Pulsar 5 sends them. This file takes the place of that in
 * src/main. It sets no time limits yet: the setters differ between HTTP clients, and the build has an older one.
 */
final class Redirects {
    private Redirects() {}

    /** Refuses to follow any. */
    static void refuse(FlowBase steps) {
        steps.bindHttpClientFactory(config -> new FrameworkHttpClient(
            new DefaultAsyncHttpClient(new DefaultAsyncHttpClientConfig.Builder()
                .setFollowRedirect(false)
                .setUserAgent(config.userAgent())
                .build()),
            config, null, null, () -> {}));
    }
}
