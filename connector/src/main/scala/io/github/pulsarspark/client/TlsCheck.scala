package io.github.pulsarspark.client

import java.io.FileInputStream
import java.net.{InetSocketAddress, Socket}
import java.security.KeyStore
import java.security.cert.CertificateFactory
import javax.net.ssl.{SSLContext, SSLException, SSLSocket, TrustManager, TrustManagerFactory}

import scala.concurrent.duration.FiniteDuration
import scala.jdk.CollectionConverters._
import scala.util.Using
import scala.util.control.NonFatal

import org.apache.pulsar.common.net.ServiceURI

import io.github.pulsarspark.options.ClientOptions

/** Asks a service for its certificate, to learn why no connection comes about: the client tells nothing but that it was closed, and the reason its log alone.
  */
private[pulsarspark] object TlsCheck {

  /** Settings by which something else than `tls.*` decides whom to trust. */
  private val Others = Set("useKeyStoreTls", "sslFactoryPlugin", "sslProvider")

  /** Why a host of `url` is not trusted; None when all are, when they do not answer, or when it is not for us to judge. */
  def problem(options: ClientOptions, url: String): Option[String] =
    if (!isSecure(url) || options.trustAnyCertificate || options.settings.keySet.exists(Others)) None
    else ServiceURI.create(url).getServiceHosts.toSeq.flatMap(problemOf(options, _)).headOption

  private def isSecure(url: String) = url.startsWith("pulsar+ssl://") || url.startsWith("https://")

  private def problemOf(options: ClientOptions, hostAndPort: String): Option[String] = {
    val colon = hostAndPort.lastIndexOf(':')
    try {
      // the name of the address, because that is what the client compares with the certificate
      val address = new InetSocketAddress(hostAndPort.take(colon).stripPrefix("[").stripSuffix("]"), hostAndPort.drop(colon + 1).toInt)
      handshake(address, options.trustCertsFile, !options.skipHostnameVerification, options.operationTimeout)
      None
    } catch {
      case e: SSLException => Some(refused(hostAndPort, e))
      case NonFatal(_)     => None
    }
  }

  private def handshake(address: InetSocketAddress, trusted: Option[String], verifyHost: Boolean, patience: FiniteDuration): Unit = {
    val context = SSLContext.getInstance("TLS")
    context.init(Array.empty, trustManagers(trusted), new java.security.SecureRandom)
    Using.resource(new Socket) { plain =>
      plain.connect(address, patience.toMillis.toInt)
      plain.setSoTimeout(patience.toMillis.toInt)
      context.getSocketFactory.createSocket(plain, address.getHostName, address.getPort, true) match {
        case socket: SSLSocket =>
          val parameters = socket.getSSLParameters
          if (verifyHost) parameters.setEndpointIdentificationAlgorithm("HTTPS")
          socket.setSSLParameters(parameters)
          socket.startHandshake()
        case _ => ()
      }
    }
  }

  /** Those of a PEM file; without it the JVM's own. */
  private def trustManagers(file: Option[String]): Array[TrustManager] = {
    val factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm)
    val store   = file.map { path =>
      val certificates =
        Using.resource(new FileInputStream(path))(CertificateFactory.getInstance("X.509").generateCertificates(_).asScala.toSeq)
      val store = KeyStore.getInstance(KeyStore.getDefaultType)
      store.load(null, Array.emptyCharArray)
      certificates.zipWithIndex.foreach { case (certificate, index) => store.setCertificateEntry(index.toString, certificate) }
      store
    }
    factory.init(store.orNull[KeyStore])
    factory.getTrustManagers
  }

  /** In words, that the connection to a host failed in the handshake. */
  def refused(hostAndPort: String, failure: Throwable): String =
    s"the certificate of $hostAndPort was not accepted (${reasonOf(failure)})"

  private def reasonOf(e: Throwable): String = {
    val root = Iterator.iterate(e)(_.getCause).takeWhile(_ != null).toSeq.last
    Option(root.getMessage).fold(root.getClass.getSimpleName)(_.trim.stripSuffix("."))
  }
}
