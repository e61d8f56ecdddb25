package io.github.pulsarspark.policy

import java.net.InetAddress
import java.util.Locale

import scala.util.Try

/** A host with its port, or many of them.
  *
  * @param name
  *   in lower case; `*` stands for any text. One of digits and dots alone stands for addresses, never for names.
  * @param port
  *   None = any port
  */
private[policy] final case class HostPattern private (name: String, port: Option[Int]) {
  import HostPattern._

  /** True if it names one host. */
  val isExact: Boolean = !name.contains('*')

  private val isOfAddresses = name.exists(_.isDigit) && name.forall(c => c.isDigit || c == '.' || c == '*')
  private val regex         = name.split("\\*", -1).map(java.util.regex.Pattern.quote).mkString(".*").r

  /** @param host
    *   a name or an address
    */
  def covers(host: String, at: CalledPort): Boolean = {
    val plain = HostPattern.plain(host)
    covers(at) && regex.matches(plain) && (!isOfAddresses || Address.matches(plain))
  }

  private def covers(at: CalledPort) = at match {
    case CalledPort.At(number) => port.forall(_ == number)
    case CalledPort.Checked    => true
    case CalledPort.Unknown    => port.isEmpty
  }
}

private[policy] object HostPattern {
  private val Address = raw"\d{1,3}(\.\d{1,3}){3}".r
  private val Allowed = raw"[a-z0-9._*:%-]+".r

  def parse(text: String): Option[HostPattern] = {
    val colon = text.lastIndexOf(':')
    val host  = text.take(colon)
    val name  = plain(host)
    val port  = text.drop(colon + 1)
    val isOk  = Allowed.matches(name) && (!name.contains(':') || host.startsWith("[") && host.endsWith("]"))
    if (colon < 1 || !isOk) None
    else if (port == "*") Some(HostPattern(name, None))
    else port.toIntOption.filter(p => p > 0 && p < 65536).map(p => HostPattern(name, Some(p)))
  }

  /** The one form of a name or an address: without brackets, in lower case, without the dot of a whole name. */
  private def plain(host: String): String = {
    val bare = host.stripPrefix("[").stripSuffix("]").toLowerCase(Locale.ROOT).stripSuffix(".")
    if (bare.contains(':')) Try(InetAddress.getByName(bare).getHostAddress.takeWhile(_ != '%')).getOrElse(bare)
    else bare
  }
}
