package io.github.pulsarspark.inspect.doctor

import java.time.{Duration, Instant}

import io.github.pulsarspark.errors.{Conditions, Occurrence, PulsarError}
import io.github.pulsarspark.options.{Authentication, ClientOptions}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.connection.PortProtocol

/** Check of the first request over the binary protocol: a broker answers and accepts the credentials. */
private[doctor] final class LoginCheck(connection: () => PulsarConnection, client: ClientOptions) {
  import LoginCheck._

  def check: Check = Check(Name, NetworkChecks.Port, NetworkChecks.Tls)(() => login())

  private def login(): Finding =
    if (client.serviceUrl.startsWith("http")) Finding.Skipped("look-ups over HTTP log in with each request")
    else
      try {
        connection().checkConnection()
        Finding.Good(claims.fold(credentials)(of(_, Instant.now())))
      } catch { case e: PulsarError => Finding.Bad(explained(e)) }

  private def claims = TokenClaims.of(client.authentication)

  private def explained(error: Throwable with PulsarError): Occurrence = {
    val url     = client.serviceUrl
    val expired = claims.flatMap(c => c.ends.filter(_.isBefore(Instant.now())).map(c.option -> _))
    val other   =
      if (Conditions.AccessDenied.is(error))
        expired.map { case (option, time) => Conditions.TokenExpired(option = option, time = time.toString, url = url) }
      else if (!ClientOptions.isEncrypted(url)) wrongPort(url)
      else None
    other.getOrElse(Occurrence.of(error))
  }

  /** Explains a plain port that does not answer: it speaks something else. */
  private def wrongPort(url: String): Option[Occurrence] = WrongPort.of("service.url", url) {
    case (PortProtocol.Tls, host) => ("speaks TLS", s"`pulsar+ssl://$host`")
    case (PortProtocol.Http, _)   =>
      ("speaks HTTP", "the port of the brokers' binary protocol, as a rule pulsar://host:6650")
  }

  private def of(claims: TokenClaims, now: Instant): String = {
    val role = claims.subject.fold("token")(s => s"token of $s")
    claims.ends.fold(s"$role, which does not expire")(end => s"$role, which expires in ${left(now, end)}")
  }

  private def left(now: Instant, end: Instant) = {
    val time = Duration.between(now, end)
    if (time.toDays > 1) s"${time.toDays} days" else s"${time.toMinutes} minutes"
  }

  private def credentials: String = client.authentication match {
    case Authentication.None            => "no credentials"
    case Authentication.Basic(user, _)  => s"user $user"
    case Authentication.Tls(_, _)       => "certificate of auth.tls.certFile"
    case o: Authentication.OAuth2       => s"token of ${o.issuerUrl}"
    case Authentication.Plugin(name, _) => name.split('.').last
    case _                              => "token"
  }
}

private[doctor] object LoginCheck {
  val Name = "login"
}
