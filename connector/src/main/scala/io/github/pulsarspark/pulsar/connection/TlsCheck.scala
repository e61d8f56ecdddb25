package io.github.pulsarspark.pulsar.connection

import java.net.{InetSocketAddress, Socket}
import java.security.cert.Certificate
import java.util.concurrent.{CompletableFuture, TimeUnit}
import javax.net.ssl.{SSLException, SSLSocket}

import scala.concurrent.duration._
import scala.util.Using
import scala.util.control.NonFatal

import org.apache.pulsar.common.net.ServiceURI
import org.apache.pulsar.common.util.SecurityUtility

import io.github.pulsarspark.options.ClientOptions

/** Finds out why TLS fails. Pulsar's client only reports that a connection was closed and keeps the reason for its log,
  * so without this check a wrong certificate looks like a service that does not respond (`PULSAR_UNREACHABLE` after
  * `operationTimeoutMs`). The check runs after a failed request only.
  */
private[pulsarspark] object TlsCheck {

  /** Settings by which something else than `tls.*` decides which certificates are trusted. */
  private val Others = Set("useKeyStoreTls", "sslFactoryPlugin", "sslProvider")

  /** Time that this check may add to an error, for any number of hosts. */
  private[pulsar] val Timeout: FiniteDuration = 3.seconds

  /** The first host of `url` whose certificate is refused, and why. None when all are accepted, if they do not respond
    * in time, or when the settings leave trust to something else. Checks all hosts at the same time.
    *
    * @param resolve
    *   looks up a host and port; may block
    */
  def problem(
      options: ClientOptions,
      url: String,
      resolve: (String, Int) => InetSocketAddress = new InetSocketAddress(_, _)
  ): Option[String] =
    if (!ClientOptions.isEncrypted(url) || options.trustAnyCertificate || options.settings.keySet.exists(Others)) None
    else {
      val first  = new CompletableFuture[Option[String]]
      val checks = ServiceURI.create(url).getServiceHosts.map { host =>
        CompletableFuture
          .supplyAsync(() => check(options, host, resolve), startDaemon(host, _))
          .thenAccept(found => if (found.isDefined) { first.complete(found); () })
      }
      CompletableFuture.allOf(checks: _*).thenRun { () => first.complete(None); () }
      first.completeOnTimeout(None, Timeout.toMillis, TimeUnit.MILLISECONDS).get()
    }

  private def startDaemon(host: String, body: Runnable): Unit = {
    val thread = new Thread(body, s"pulsar-spark: certificate of $host")
    thread.setDaemon(true)
    thread.start()
  }

  private def check(
      options: ClientOptions,
      hostAndPort: String,
      resolve: (String, Int) => InetSocketAddress
  ): Option[String] = {
    val colon = hostAndPort.lastIndexOf(':')
    try {
      // The client compares the name of the address with the certificate.
      handshake(
        options,
        resolve(hostAndPort.take(colon).stripPrefix("[").stripSuffix("]"), hostAndPort.drop(colon + 1).toInt)
      )
      None
    } catch {
      case e: SSLException => Some(refused(hostAndPort, e))
      case NonFatal(_)     => None
    }
  }

  private def handshake(options: ClientOptions, address: InetSocketAddress): Unit = {
    val trusted = options.trustCertsFile.toSeq.flatMap(SecurityUtility.loadCertificatesFromPemFile(_))
    val context = SecurityUtility.createSslContext(false, trusted.toArray[Certificate], null, null)
    Using.resource(new Socket) { plain =>
      plain.setSoTimeout(Timeout.toMillis.toInt)
      plain.connect(address, Timeout.toMillis.toInt)
      context.getSocketFactory.createSocket(plain, address.getHostName, address.getPort, true) match {
        case socket: SSLSocket =>
          val parameters = socket.getSSLParameters
          if (!options.skipHostnameVerification) parameters.setEndpointIdentificationAlgorithm("HTTPS")
          socket.setSSLParameters(parameters)
          socket.startHandshake()
        case _ => ()
      }
    }
  }

  /** Text for a failed TLS handshake with a host. */
  def refused(hostAndPort: String, failure: Throwable): String = {
    val root   = Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).toSeq.last
    val reason = Option(root.getMessage).fold(root.getClass.getSimpleName)(_.trim.stripSuffix("."))
    s"the certificate of $hostAndPort was not accepted ($reason)"
  }
}
