package io.github.pulsarspark.pulsar.connection

import java.io.FileInputStream
import java.net.{InetSocketAddress, Socket}
import java.security.KeyStore
import java.security.cert.CertificateFactory
import java.util.concurrent.{LinkedBlockingQueue, TimeUnit}
import javax.net.ssl.{SSLContext, SSLException, SSLSocket, TrustManager, TrustManagerFactory}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Using
import scala.util.control.NonFatal

import org.apache.pulsar.common.net.ServiceURI

import io.github.pulsarspark.options.ClientOptions

/** Requests the certificate of a service, to report why a connection failed: the client reports only that it was
  * closed, and the reason only in its log.
  */
private[pulsarspark] object TlsCheck {

  /** Settings by which something else than `tls.*` decides whom to trust. */
  private val Others = Set("useKeyStoreTls", "sslFactoryPlugin", "sslProvider")

  /** How much longer an error takes at most because of this check, however many hosts there are. */
  private[pulsar] val Patience: FiniteDuration = 3.seconds

  /** Why a host of `url` is not trusted; None when all are, when they do not answer in time, or when it is not for us
    * to judge. Looks at all hosts at the same time.
    *
    * @param resolve
    *   looks up a host and port; may block
    */
  def problem(
      options: ClientOptions,
      url: String,
      resolve: (String, Int) => InetSocketAddress = new InetSocketAddress(_, _)
  ): Option[String] =
    if (!isSecure(url) || options.trustAnyCertificate || options.settings.keySet.exists(Others)) None
    else {
      val deadline = System.nanoTime() + Patience.toNanos
      val checks   = ServiceURI.create(url).getServiceHosts.toSeq.map(new Check(options, _, resolve))
      val results  = new LinkedBlockingQueue[Option[String]]
      checks.foreach(_.startThread(results))
      // the first problem, or nothing once all hosts have answered or the time is over
      try checks.iterator.map(_ =>
          Option(results.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)).flatten
        ).collectFirst {
          case Some(p) => p
        }
      finally checks.foreach(_.stop())
    }

  private def isSecure(url: String) = url.startsWith("pulsar+ssl://") || url.startsWith("https://")

  /** Shakes hands with one host. */
  private final class Check(options: ClientOptions, hostAndPort: String, resolve: (String, Int) => InetSocketAddress) {
    private val plain = new Socket

    def startThread(results: LinkedBlockingQueue[Option[String]]): Unit = {
      val thread = new Thread(() => { results.add(problem()); () }, s"pulsar-spark: certificate of $hostAndPort")
      thread.setDaemon(true)
      thread.start()
    }

    /** Ends whatever the thread waits for but the look-up of a name. */
    def stop(): Unit = plain.close()

    private def problem(): Option[String] = {
      val colon = hostAndPort.lastIndexOf(':')
      try {
        // the name of the address, because that is what the client compares with the certificate
        handshake(resolve(hostAndPort.take(colon).stripPrefix("[").stripSuffix("]"), hostAndPort.drop(colon + 1).toInt))
        None
      } catch {
        case e: SSLException => Some(refused(hostAndPort, e))
        case NonFatal(_)     => None
      }
    }

    private def handshake(address: InetSocketAddress): Unit = {
      val context = SSLContext.getInstance("TLS")
      context.init(Array.empty, trustManagers(options.trustCertsFile), new java.security.SecureRandom)
      Using.resource(plain) { plain =>
        plain.connect(address, Patience.toMillis.toInt)
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
  }

  /** Those of a PEM file; without it the JVM's own. */
  private def trustManagers(file: Option[String]): Array[TrustManager] = {
    val factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm)
    val store   = file.map { path =>
      val certificates =
        Using.resource(new FileInputStream(path))(
          CertificateFactory.getInstance("X.509").generateCertificates(_).asScala.toSeq
        )
      val store = KeyStore.getInstance(KeyStore.getDefaultType)
      store.load(null, Array.emptyCharArray)
      certificates.zipWithIndex.foreach { case (certificate, index) =>
        store.setCertificateEntry(index.toString, certificate)
      }
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
