package io.github.pulsarspark.policy

import java.net.{InetAddress, InetSocketAddress, URI}

import scala.util.Try

import io.github.pulsarspark.errors.Conditions

/** The one check of hosts before they are called: those that options name, and those that brokers and issuers name. */
private[pulsarspark] object AllowedHosts {
  import CalledPort._

  /** Fails unless a host may be called at the port. */
  def check(option: String, host: String, port: Int): Unit = check(option, host, At(port))

  def check(option: String, host: String, port: CalledPort): Unit = Policy.now().foreach(check(_, option, host, port))

  /** Fails unless the host of a URL may be called; one that is no plain URL of a host is refused. */
  def checkUrl(option: String, url: String): Unit = Policy.now().foreach(checkUrl(_, option, url))

  /** Fails unless the address may be called, to which a name that may be called leads. */
  def checkAddress(option: String, host: String, address: InetAddress, port: CalledPort): Unit =
    Policy.now().foreach(checkAddress(_, option, host, address, port))

  /** Looks up a host that may be called; may block. */
  def resolved(option: String, host: String, port: Int): InetSocketAddress = {
    check(option, host, port)
    val address = new InetSocketAddress(host, port)
    Option(address.getAddress).foreach(checkAddress(option, host, _, At(port)))
    address
  }

  /** All addresses of a host that may be called; may block. */
  def addresses(option: String, host: String, port: Int): Seq[InetAddress] = {
    check(option, host, port)
    InetAddress.getAllByName(host).toSeq
  }

  /** Reason why hosts that no option names may not be called; None if all may be.
    *
    * @param hosts
    *   each with its port; not needed without a policy
    */
  def obstacle(hosts: => Seq[(String, Int)]): Option[String] = Policy.now().flatMap { policy =>
    hosts.collectFirst {
      case (host, port) if !policy.hosts.exists(_.covers(host, At(port))) =>
        s"${PolicyKeys.Prefix}${PolicyKeys.Hosts} does not list $host:$port"
    }
  }

  /** True if the failure is that of a check here, or caused by it. */
  def refuses(failure: Throwable): Boolean =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).exists(Conditions.PolicyRefused.is)

  private[policy] def check(policy: Policy, option: String, host: String, port: CalledPort): Unit =
    if (!policy.hosts.exists(_.covers(host, port))) throw refused(option, host, port)

  private[policy] def checkUrl(policy: Policy, option: String, url: String): Unit = {
    val uri  = Try(new URI(url.trim)).toOption.filter(u => u.getHost != null && u.getRawUserInfo == null)
    val port = uri.map(u => if (u.getPort >= 0) u.getPort else DefaultPorts.getOrElse(u.getScheme.toLowerCase, 0))
    uri.zip(port).fold(throw refused(option, url, Checked)) { case (u, p) => check(policy, option, u.getHost, At(p)) }
  }

  private[policy] def checkAddress(
      policy: Policy,
      option: String,
      host: String,
      address: InetAddress,
      port: CalledPort
  ): Unit = {
    val text = address.getHostAddress
    if (isInner(address) && !policy.hosts.exists(p => p.isExact && (p.covers(host, port) || p.covers(text, port))))
      throw refused(option, s"$host ($text)", port)
  }

  /** True for addresses of this machine and of its own link, where clouds keep the credentials of machines. Whoever has
    * a name that a pattern covers could lead it there.
    */
  private def isInner(address: InetAddress) =
    address.isLoopbackAddress || address.isLinkLocalAddress || address.isAnyLocalAddress || address.isMulticastAddress

  private val DefaultPorts = Map("http" -> 80, "https" -> 443, "pulsar" -> 6650, "pulsar+ssl" -> 6651)

  private def refused(option: String, host: String, port: CalledPort) = Refused(option,
    s"a connection to $host" +
      (port match {
        case At(number) => s":$number"
        case Checked    => ""
        case Unknown    => ":*"
      }),
    PolicyKeys.Hosts)
}
