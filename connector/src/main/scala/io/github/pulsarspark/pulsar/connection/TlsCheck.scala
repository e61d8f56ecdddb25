package io.github.pulsarspark.pulsar.connection

import java.net.{InetSocketAddress, Socket}
import java.security.cert.X509Certificate
import java.util.concurrent.{CompletableFuture, TimeUnit}
import javax.net.ssl.{SSLContext, SSLException, SSLSocket}

import scala.concurrent.duration._
import scala.util.Using
import scala.util.control.NonFatal

import io.github.pulsarspark.options.ClientOptions

/** Finds out why TLS fails. Pulsar's client only reports that a connection was closed and keeps the reason for its log,
  * so without this check a wrong certificate looks like a service that does not respond (`PULSAR_UNREACHABLE` after
  * `operationTimeoutMs`). The check runs after a failed request only.
  */
private[pulsarspark] object TlsCheck {

  private val TrustCertsFile = "tls.trustCertsFile"

  /** Settings by which something else than `tls.*` decides which certificates are trusted. */
  private val Others = Set("useKeyStoreTls", "sslFactoryPlugin", "sslProvider")

  /** Time that this check may add to an error, for any number of hosts. */
  private[pulsar] val Timeout: FiniteDuration = 3.seconds

  /** True if the settings name the certificates to trust, false if they leave that to a plug-in, or trust all. */
  def isStrict(options: ClientOptions): Boolean =
    !options.trustAnyCertificate && !options.settings.keySet.exists(Others)

  /** Fails with the name of the option if its file has no certificate. The client would name only a class of Java. */
  def checkFile(options: ClientOptions): Unit =
    if (ClientOptions.isEncrypted(options.serviceUrl) && isStrict(options))
      options.trustCertsFile.foreach(TlsContexts.certificates(TrustCertsFile, _))

  /** The first host of `url` that fails, and why. None when all are accepted, if they do not respond in time, or when
    * the settings leave trust to something else. Checks all hosts at the same time.
    *
    * @param resolve
    *   looks up a host and port; may block
    */
  def problem(
      options: ClientOptions,
      url: String,
      resolve: ServiceHost => InetSocketAddress = _.resolved
  ): Option[TlsProblem] =
    if (!ClientOptions.isEncrypted(url) || !isStrict(options)) None
    else {
      val first  = new CompletableFuture[Option[TlsProblem]]
      val checks = ServiceHost.of(url).map { host =>
        CompletableFuture
          .supplyAsync(() => check(options, host, resolve), startDaemon(host, _))
          .thenAccept(found => if (found.isDefined) { first.complete(found); () })
      }
      CompletableFuture.allOf(checks: _*).thenRun { () => first.complete(None); () }
      first.completeOnTimeout(None, Timeout.toMillis, TimeUnit.MILLISECONDS).get()
    }

  private def startDaemon(host: ServiceHost, body: Runnable): Unit = {
    val thread = new Thread(body, s"pulsar-spark: certificate of $host")
    thread.setDaemon(true)
    thread.start()
  }

  private def check(
      options: ClientOptions,
      host: ServiceHost,
      resolve: ServiceHost => InetSocketAddress
  ): Option[TlsProblem] =
    try certificate(options, host, resolve).left.toOption
    catch { case NonFatal(_) => None }

  /** The certificate of a host, if it is accepted; any one where the settings leave trust to something else. Fails when
    * there is no connection.
    */
  def certificate(
      options: ClientOptions,
      host: ServiceHost,
      resolve: ServiceHost => InetSocketAddress = _.resolved
  ): Either[TlsProblem, X509Certificate] =
    try Right(handshake(options, resolve(host))) // the client compares the name of the address with the certificate
    catch { case e: SSLException => Left(TlsProblem.of(host.toString, e)) }

  private def handshake(options: ClientOptions, address: InetSocketAddress): X509Certificate = {
    val trust = context(options)
    Using.resource(new Socket) { plain =>
      plain.setSoTimeout(Timeout.toMillis.toInt)
      plain.connect(address, Timeout.toMillis.toInt)
      trust.getSocketFactory.createSocket(plain, address.getHostName, address.getPort, true) match {
        case socket: SSLSocket =>
          val parameters = socket.getSSLParameters
          if (isStrict(options) && !options.skipHostnameVerification)
            parameters.setEndpointIdentificationAlgorithm("HTTPS")
          socket.setSSLParameters(parameters)
          socket.startHandshake()
          socket.getSession.getPeerCertificates.collectFirst { case own: X509Certificate => own }.get
        case other => throw new IllegalStateException(other.getClass.getName)
      }
    }
  }

  private def context(options: ClientOptions): SSLContext =
    if (isStrict(options))
      options.trustCertsFile.fold(TlsContexts.trustingDefaults)(TlsContexts.trustingFile(TrustCertsFile, _))
    else TlsContexts.trustingAny
}
