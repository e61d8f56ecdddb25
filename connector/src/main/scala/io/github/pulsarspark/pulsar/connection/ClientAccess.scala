package io.github.pulsarspark.pulsar.connection

import java.net.URI

import scala.util.Try

import io.github.pulsarspark.options.{Authentication, ClientOptions}
import io.github.pulsarspark.policy.{AllowedChecks, AllowedHosts, AllowedSecrets, CalledPort}

/** Checks what the settings of a client reach by the policy of a server, before the client is made. Files and classes
  * are checked where they are opened and loaded, other hosts where the client looks them up.
  */
private[connection] object ClientAccess {

  def check(options: ClientOptions): Unit = {
    hosts(options).foreach { case (option, host) => AllowedHosts.check(option, host.name, host.port) }
    if (ServiceHost.isOverHttp(options.serviceUrl))
      ServiceHost.of(options.serviceUrl).foreach(h =>
        AllowedHosts.check(ServiceHost.OptionKey, h.name, CalledPort.Unknown)
      )
    options.authentication match {
      case o: Authentication.OAuth2 =>
        AllowedHosts.checkUrl("auth.oauth2.issuerUrl", o.issuerUrl)
        AllowedSecrets.checkUrl("auth.oauth2.credentialsUrl", o.credentialsUrl.reveal)
      case _ => ()
    }
    if (options.skipHostnameVerification) AllowedChecks.checkInsecure("tls.insecureSkipHostnameVerification")
    if (options.trustAnyCertificate) AllowedChecks.checkInsecure("tls.insecureTrustAnyCertificate")
  }

  private def hosts(options: ClientOptions): Seq[(String, ServiceHost)] =
    ServiceHost.of(options.serviceUrl).map(ServiceHost.OptionKey -> _) ++
      options.adminUrl.toSeq.flatMap(ServiceHost.of).map("admin.url" -> _) ++
      options.settings.get(Proxy).flatMap(url => proxy(url.reveal)).map(s"pulsar.client.$Proxy" -> _)

  private val Proxy = "proxyServiceUrl"

  /** The host as the client takes it from the URL; it refuses a URL without one. */
  private def proxy(url: String): Option[ServiceHost] =
    Try(new URI(url)).toOption.filter(_.getHost != null).map(u => ServiceHost(u.getHost, u.getPort))
}
