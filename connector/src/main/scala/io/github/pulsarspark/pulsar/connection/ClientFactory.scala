package io.github.pulsarspark.pulsar.connection

import java.net.InetSocketAddress
import java.nio.charset.StandardCharsets.UTF_8
import java.time.Duration
import java.util.concurrent.TimeUnit

import scala.concurrent.duration.FiniteDuration
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.pulsar.client
import org.apache.pulsar.client.api.{AuthenticationFactory, PulsarClientSharedResources}
import org.apache.pulsar.client.api.PulsarClientSharedResources.SharedResource
import org.apache.pulsar.client.impl.{ClientBuilderImpl, PulsarClientImpl, PulsarClientSharedResourcesImpl}
import org.apache.pulsar.client.impl.auth.AuthenticationBasic
import org.apache.pulsar.client.impl.auth.oauth2.{AuthenticationOAuth2, SteppedOAuth2}
import org.apache.pulsar.client.impl.conf.ClientConfigurationData
import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.ShadedClassNames
import io.github.pulsarspark.errors.{Conditions, PulsarError}
import io.github.pulsarspark.options.{Authentication, ClientOptions, NamedFile}
import io.github.pulsarspark.policy.{AllowedHosts, PluginClass, Policy}

/** Creates a Pulsar client from options. Never logs a setting. */
private[pulsar] object ClientFactory {

  private val log = LoggerFactory.getLogger(getClass)

  private val TokenFile = "auth.tokenFile"

  /** The options that name the class of a plug-in, and its parameters. */
  private val Plugin      = ("pulsar.client.authPluginClassName", "pulsar.client.authParams")
  private val AdminPlugin = ("admin.auth.pluginClassName", "admin.auth.params")

  /** Settings of the client that name files. */
  private val FileSettings =
    Seq("tlsCertificateFilePath", "tlsKeyFilePath", "tlsKeyStorePath", "tlsTrustStorePath")

  /** The client's own default of 60 s would keep a reader waiting long after a broker is back. */
  private val MaxReconnectBackoffSeconds = 5L

  /** Part of its life after which a token of OAuth 2.0 is replaced. A broker whose clock is ahead would refuse one that
    * is used to its end.
    */
  private val RefreshAfter = 0.8

  /** Texts of the client about OAuth 2.0 that repeat no setting, in full or up to a colon. The client throws the same
    * class for each of them, so only the text tells them apart.
    */
  private val Public          = Seq("Unable to retrieve OAuth 2.0 server metadata", "Unable to obtain an access token")
  private val PublicUpToColon = "Unable to read private key"

  /** The timer of all clients of this JVM: each one's own would wake up every millisecond. The thread that uses it
    * first is a daemon, and so is the timer's.
    */
  private lazy val timer =
    PulsarClientSharedResources.builder().resourceTypes(SharedResource.Timer).build()

  def apply(options: ClientOptions): PulsarClientImpl = {
    ClientAccess.check(options)
    warnOfInsecurity(options)
    files(options).foreach { case (option, file) => NamedFile.check(option, file) }
    TlsCheck.checkFile(options)
    val builder = new ClientBuilderImpl
    try {
      builder.sharedResources(timer).maxBackoffInterval(MaxReconnectBackoffSeconds, TimeUnit.SECONDS)
      builder.loadConf(ClientSettings.typed(
        "pulsar.client.",
        Map("statsIntervalSeconds" -> "0") ++ settings(options)
      ))
      resolveAddresses(builder)
      builder
        .serviceUrl(options.serviceUrl)
        .operationTimeout(options.operationTimeout.toMillis.toInt, TimeUnit.MILLISECONDS)
        .lookupTimeout(options.operationTimeout.toMillis.toInt, TimeUnit.MILLISECONDS)
        .enableTlsHostnameVerification(!options.skipHostnameVerification)
        .allowTlsInsecureConnection(options.trustAnyCertificate)
      options.trustCertsFile.foreach(builder.tlsTrustCertsFilePath)
      authentication(options.authentication, options.operationTimeout, Plugin).foreach(builder.authentication)
      val client = built(builder)
      checkToken(client)
      client
    } catch {
      case e: PulsarError => throw e
      // without its cause, which may repeat a setting in its text
      case NonFatal(e) =>
        throw Conditions.ClientFailed(url = options.serviceUrl, cause = publicText(rootOf(e))).exception
    }
  }

  /** The client that the builder makes; where a server has a policy, one that looks up only the hosts in it. */
  private def built(builder: ClientBuilderImpl): PulsarClientImpl =
    if (Policy.now().isDefined) guarded(builder.getClientConfigurationData)
    else
      builder.build() match {
        case client: PulsarClientImpl => client
        case other                    => throw unexpected(other)
      }

  private def guarded(conf: ClientConfigurationData): PulsarClientImpl = timer match {
    case shared: PulsarClientSharedResourcesImpl =>
      val parts = PulsarClientImpl.builder().conf(conf).dnsResolverGroup(new GuardedNames(conf))
      shared.applyTo(parts)
      parts.build()
    case other => throw unexpected(other)
  }

  private def unexpected(made: Any) =
    Conditions.Internal(what = s"unexpected ${made.getClass.getName}", where = "ClientFactory").exception

  /** The client's own conversion from text looks no address up, and it can connect to none of those. */
  private def resolveAddresses(builder: ClientBuilderImpl): Unit = {
    def resolved(name: String)(address: InetSocketAddress) =
      AllowedHosts.resolved(s"pulsar.client.$name", address.getHostString, address.getPort)
    val loaded = builder.getClientConfigurationData
    Option(loaded.getSocks5ProxyAddress).foreach(a => builder.socks5ProxyAddress(resolved("socks5ProxyAddress")(a)))
    Option(loaded.getDnsServerAddresses).foreach(all =>
      builder.dnsServerAddresses(all.asScala.map(resolved("dnsServerAddresses")).asJava)
    )
  }

  /** Authentication at the admin service; None if it is that of the brokers. */
  def adminAuthentication(options: ClientOptions): Option[client.api.Authentication] =
    options.adminAuthentication.flatMap(authentication(_, options.operationTimeout, AdminPlugin))

  /** Named by a text: the client of Pulsar 5 has neither the interface nor the setting. */
  private def sslFactory: Class[_] =
    Class.forName(ShadedClassNames("org.apache.pulsar.common.util.PulsarSslFactory"))

  /** The client loads such a class when it connects. */
  private def settings(options: ClientOptions): Map[String, String] = options.settings.map {
    case (name @ "sslFactoryPlugin", plugin) =>
      name -> PluginClass(s"pulsar.client.$name", plugin.reveal, sslFactory).getName
    case (name @ "sslFactoryPluginParams", parameters) =>
      CredentialFiles.check(s"pulsar.client.$name", parameters)
      name -> parameters.reveal
    case (name, value) => name -> value.reveal
  }

  private def authentication(
      how: Authentication,
      patience: FiniteDuration,
      plugin: (String, String)
  ): Option[client.api.Authentication] =
    how match {
      case Authentication.None            => None
      case Authentication.Token(token)    => Some(AuthenticationFactory.token(token.reveal))
      case Authentication.TokenFile(path) =>
        Some(AuthenticationFactory.token(() => new String(NamedFile.read(TokenFile, path), UTF_8).trim))
      case Authentication.Tls(cert, key)    => Some(AuthenticationFactory.TLS(cert, key))
      case Authentication.Plugin(name, par) =>
        val found = PluginClass(plugin._1, name, classOf[client.api.Authentication])
        CredentialFiles.check(plugin._2, par)
        Some(AuthenticationFactory.create(found.getName, par.reveal))
      case Authentication.Basic(user, password) =>
        val basic = new AuthenticationBasic
        basic.configure(Map("userId" -> user, "password" -> password.reveal).asJava)
        Some(basic)
      case o: Authentication.OAuth2 =>
        CredentialFiles.check("auth.oauth2.credentialsUrl", o.credentialsUrl)
        val oauth2 = Policy.now().fold(new AuthenticationOAuth2)(_ => steppedOAuth2)
        oauth2.configure(new ObjectMapper().writeValueAsString(parameters(o, patience).asJava))
        Some(oauth2)
    }

  private def steppedOAuth2 =
    new SteppedOAuth2(url => AllowedHosts.checkUrl("auth.oauth2.issuerUrl", url.toString))

  /** Parameters of the OAuth2 plug-in. The client's own builder accepts no credentials in a `data:` URL. */
  private def parameters(o: Authentication.OAuth2, patience: FiniteDuration): Map[String, String] = Map(
    "issuerUrl"                -> o.issuerUrl,
    "privateKey"               -> o.credentialsUrl.reveal,
    "audience"                 -> o.audience,
    "scope"                    -> o.scope,
    "connectTimeout"           -> Duration.ofMillis(patience.toMillis).toString,
    "readTimeout"              -> Duration.ofMillis(patience.toMillis).toString,
    "earlyTokenRefreshPercent" -> RefreshAfter.toString
  )

  /** Requests the token, which the client keeps for its connections. A failure there would be reported only as a closed
    * connection.
    */
  private def checkToken(client: PulsarClientImpl): Unit = client.getConfiguration.getAuthentication match {
    case oauth2: AuthenticationOAuth2 =>
      try oauth2.getAuthData
      catch {
        case e: Throwable =>
          client.closeAsync() // its threads take two seconds to end
          throw e
      }
    case _ => ()
  }

  private def publicText(e: Throwable): String = Option(e.getMessage) match {
    case Some(text) if Public.exists(text.startsWith)   => text
    case Some(text) if text.startsWith(PublicUpToColon) => PublicUpToColon
    case _                                              => e.getClass.getSimpleName
  }

  private def files(options: ClientOptions): Seq[(String, String)] =
    options.trustCertsFile.map("tls.trustCertsFile" -> _).toSeq ++
      FileSettings.flatMap(name => options.settings.get(name).map(s"pulsar.client.$name" -> _.reveal)) ++
      (options.authentication match {
        case Authentication.TokenFile(path) => Seq(TokenFile -> path)
        case Authentication.Tls(cert, key)  => Seq("auth.tls.certFile" -> cert, "auth.tls.keyFile" -> key)
        case _                              => Nil
      })

  private def warnOfInsecurity(options: ClientOptions): Unit = {
    if (options.skipHostnameVerification)
      log.warn("{}: host names of certificates are not verified (tls.insecureSkipHostnameVerification)",
        options.serviceUrl)
    if (options.trustAnyCertificate)
      log.warn("{}: any certificate is accepted (tls.insecureTrustAnyCertificate)", options.serviceUrl)
  }

  private def rootOf(e: Throwable): Throwable = Iterator.iterate(e)(_.getCause).takeWhile(_ != null).toSeq.last
}
