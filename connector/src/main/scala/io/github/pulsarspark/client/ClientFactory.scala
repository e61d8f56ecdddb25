package io.github.pulsarspark.client

import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.pulsar.client.api.{AuthenticationFactory, PulsarClient}
import org.apache.pulsar.client.impl.PulsarClientImpl
import org.apache.pulsar.client.impl.auth.AuthenticationBasic
import org.apache.pulsar.client.impl.auth.oauth2.AuthenticationFactoryOAuth2
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.{PulsarError, PulsarErrors}
import io.github.pulsarspark.options.{Authentication, ClientOptions}

/** Makes a Pulsar client from options. Never logs a setting. */
private[client] object ClientFactory {

  private val log = LoggerFactory.getLogger(getClass)

  /** The client's own default of 60 s would keep a reader waiting long after a broker is back. */
  private val MaxReconnectBackoffSeconds = 5L

  def apply(options: ClientOptions): PulsarClientImpl = {
    warnOfInsecurity(options)
    val builder = PulsarClient.builder().maxBackoffInterval(MaxReconnectBackoffSeconds, TimeUnit.SECONDS)
    try {
      builder.loadConf(ClientSettings.typed(
        "pulsar.client.",
        Map("statsIntervalSeconds" -> "0") ++ options.settings.view.mapValues(_.reveal)
      ))
      builder
        .serviceUrl(options.serviceUrl)
        .operationTimeout(options.operationTimeout.toMillis.toInt, TimeUnit.MILLISECONDS)
        .lookupTimeout(options.operationTimeout.toMillis.toInt, TimeUnit.MILLISECONDS)
        .enableTlsHostnameVerification(!options.skipHostnameVerification)
        .allowTlsInsecureConnection(options.trustAnyCertificate)
      options.trustCertsFile.foreach(builder.tlsTrustCertsFilePath)
      authentication(options.authentication).foreach(builder.authentication)
      builder.build() match {
        case client: PulsarClientImpl => client
        case other                    =>
          throw PulsarErrors("PULSAR_INTERNAL", "what" -> s"unexpected client ${other.getClass.getName}", "where" -> "ClientFactory")
      }
    } catch {
      case e: PulsarError => throw e
      // the cause may repeat a setting in its text, so only its type is told
      case NonFatal(e) =>
        throw PulsarErrors("PULSAR_CLIENT_FAILED", "url" -> options.serviceUrl, "cause" -> rootOf(e).getClass.getSimpleName)
    }
  }

  private def authentication(how: Authentication) = how match {
    case Authentication.None            => None
    case Authentication.Token(token)    => Some(AuthenticationFactory.token(token.reveal))
    case Authentication.TokenFile(path) =>
      Some(AuthenticationFactory.token(() => new String(java.nio.file.Files.readAllBytes(java.nio.file.Path.of(path)), "UTF-8").trim))
    case Authentication.Tls(cert, key)        => Some(AuthenticationFactory.TLS(cert, key))
    case Authentication.Plugin(name, par)     => Some(AuthenticationFactory.create(relocated(name), par.reveal))
    case Authentication.Basic(user, password) =>
      val basic = new AuthenticationBasic
      basic.configure(Map("userId" -> user, "password" -> password.reveal).asJava)
      Some(basic)
    case Authentication.OAuth2(issuer, credentials, audience, scope) =>
      Some(
        AuthenticationFactoryOAuth2
          .clientCredentialsBuilder()
          .issuerUrl(java.net.URI.create(issuer).toURL)
          .credentialsUrl(java.net.URI.create(credentials.reveal).toURL)
          .audience(Some(audience).filter(_.nonEmpty).orNull)
          .scope(Some(scope).filter(_.nonEmpty).orNull)
          .build()
      )
  }

  /** The published jar carries the client under another package: `org.apache.pulsar...` names of its own plug-ins are found there. */
  private[client] def relocated(className: String): String = {
    val original = Seq(
      "org",
      "apache",
      "pulsar",
      "client",
      "impl",
      "PulsarClientImpl"
    ).mkString(".") // in parts, because relocation rewrites whole names
    val prefix = classOf[PulsarClientImpl].getName.stripSuffix(original)
    val pulsar = Seq("org", "apache", "pulsar", "").mkString(".")
    if (className.startsWith(pulsar)) prefix + className else className
  }

  private def warnOfInsecurity(options: ClientOptions): Unit = {
    if (options.skipHostnameVerification)
      log.warn("{}: host names of certificates are not verified (tls.insecureSkipHostnameVerification)", options.serviceUrl)
    if (options.trustAnyCertificate) log.warn("{}: any certificate is accepted (tls.insecureTrustAnyCertificate)", options.serviceUrl)
  }

  private def rootOf(e: Throwable): Throwable = Iterator.iterate(e)(_.getCause).takeWhile(_ != null).toSeq.last
}
