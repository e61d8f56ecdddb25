package org.apache.pulsar.client.impl.auth.oauth2;

import java.net.URL;
import java.util.function.Consumer;
import org.apache.pulsar.client.api.PulsarClientException;

/**
 * OAuth 2.0 that asks before each of its two steps whether the host may be called: the issuer, and the endpoint that
 * the issuer names. It follows no redirect, as that would be a third. It lives in the client's package because the
 * steps are fields that are not public.
 */
public final class SteppedOAuth2 extends AuthenticationOAuth2 {
    private static final long serialVersionUID = 1L;

    private final transient Consumer<URL> step;

    /** @param step fails for a URL that may not be called */
    public SteppedOAuth2(Consumer<URL> step) {
        this.step = step;
    }

    @Override
    public void start() throws PulsarClientException {
        if (!(flow instanceof FlowBase)) {
            throw new PulsarClientException("unexpected flow " + flow.getClass().getName());
        }
        FlowBase steps = (FlowBase) flow;
        step.accept(steps.issuerUrl);
        Redirects.refuse(steps);
        super.start();
        step.accept(steps.metadata.getTokenEndpoint());
    }
}
