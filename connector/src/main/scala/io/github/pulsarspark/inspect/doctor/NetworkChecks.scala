package io.github.pulsarspark.inspect.doctor

import java.io.IOException
import java.net.{Socket, UnknownHostException}
import java.security.cert.X509Certificate
import java.time.{Duration, Instant, LocalDate, ZoneOffset}

import scala.concurrent.duration.FiniteDuration
import scala.util.Using

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.errors.{Conditions, FirstLine}
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.pulsar.connection.{ServiceHost, TlsCheck}

/** Checks of the way to the hosts of `service.url`: names, ports and certificates. All hosts at the same time. */
private[doctor] final class NetworkChecks(client: ClientOptions) {
  import NetworkChecks._

  private val url        = client.serviceUrl
  private lazy val hosts = ServiceHost.of(url)

  /** The checks in their order. */
  def all: Seq[Check] = Seq(
    Check(Name)(() => direct(addresses)),
    Check(Port, Name)(() => direct(connection)),
    Check(Tls, Port)(() => if (ClientOptions.isEncrypted(url)) direct(certificate) else Finding.Skipped(NoTls))
  )

  private def direct(check: ServiceHost => Finding): Finding =
    detour(client).fold(ofHosts(check))(name => Finding.Skipped(s"pulsar.client.$name decides how hosts are reached"))

  private def ofHosts(check: ServiceHost => Finding): Finding = {
    val threads = new BlockingParallel("pulsar-spark-doctor-hosts", hosts.size)
    Finding.either(hosts.map(h => threads.start(() => check(h))).map(_.join()))
  }

  private def addresses(host: ServiceHost): Finding =
    try Finding.Good(host.addresses.map(_.getHostAddress).mkString(", "))
    catch { case _: UnknownHostException => unreachable(s"The look-up of ${host.name}", "unknown host") }

  private def connection(host: ServiceHost): Finding =
    refusal(host, client.operationTimeout).fold[Finding](Finding.Good(host.toString))(
      unreachable(s"A connection to $host", _)
    )

  private def certificate(host: ServiceHost): Finding =
    try
      TlsCheck.certificate(client, host).fold(
        problem => Finding.Bad(problem.occurrence("The TLS handshake", url)),
        own =>
          if (endsSoon(own)) Finding.Doubtful(Conditions.CertificateEnds(address = host.toString, until = end(own)))
          else Finding.Good(shown(own))
      )
    catch { case e: IOException => unreachable(s"The TLS handshake with $host", FirstLine(e)) }

  private def shown(own: X509Certificate) = {
    val trust = if (TlsCheck.isStrict(client)) "" else ", not compared with tls.trustCertsFile"
    s"${own.getSubjectX500Principal.getName}, until ${end(own)}$trust"
  }

  private def unreachable(what: String, cause: String) = Finding.Bad(Conditions.Unreachable(what = what, url = url,
    waited = client.operationTimeout.toMillis.toString, cause = s" ($cause)"))
}

private[doctor] object NetworkChecks {
  val Name = "name resolves"
  val Port = "port"
  val Tls  = "TLS"

  private val NoTls   = "service.url asks for none"
  private val Detours = Seq("proxyServiceUrl", "socks5ProxyAddress", "dnsServerAddresses")

  /** Time in which an operator can renew a certificate. */
  private val Soon = Duration.ofDays(7)

  /** A setting by which the client sees another network than this check: a proxy, or name servers of its own. */
  def detour(client: ClientOptions): Option[String] = Detours.find(client.settings.contains)

  /** Opens a connection and closes it. Returns the reason why there is none. */
  def refusal(host: ServiceHost, patience: FiniteDuration): Option[String] =
    try {
      Using.resource(new Socket)(_.connect(host.resolved, patience.toMillis.toInt))
      None
    } catch { case e: IOException => Some(FirstLine(e)) }

  private def endsSoon(own: X509Certificate) =
    own.getNotAfter.toInstant.isBefore(Instant.now().plus(Soon))

  private def end(own: X509Certificate): String =
    LocalDate.ofInstant(own.getNotAfter.toInstant, ZoneOffset.UTC).toString
}
