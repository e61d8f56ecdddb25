package io.github.pulsarspark.storage.bookkeeper.bookies

import java.net.{InetAddress, NetworkInterface}
import java.util.Locale

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Try

import io.github.pulsarspark.storage.segment.BookieLocation

/** Finds the bookies that are on this machine, by the host in their ids: it is one of this machine's addresses, or its
  * name. Names are resolved only where an id has one, as that may take a name server.
  */
private[bookkeeper] object LocalHost {

  private lazy val addresses: Set[String] =
    Try(
      NetworkInterface.networkInterfaces.iterator.asScala.flatMap(_.getInetAddresses.asScala).map(textOf).toSet
    ).getOrElse(Set.empty)

  private lazy val names: Set[String] = {
    val own = HostNames.within(LookUpTimeout) {
      val here = InetAddress.getLocalHost
      Seq(here.getHostName, here.getCanonicalHostName)
    }
    (own.getOrElse(Nil) :+ "localhost").map(_.toLowerCase(Locale.ROOT)).toSet
  }

  private val LookUpTimeout = 2.seconds

  /** @param bookie
    *   its id
    */
  def has(bookie: String): Boolean = {
    val host = BookieLocation.hostOf(bookie).toLowerCase(Locale.ROOT)
    HostNames.literal(host.stripPrefix("[").stripSuffix("]")).fold(names(host))(a =>
      a.isLoopbackAddress || addresses(textOf(a))
    )
  }

  /** Address without the interface. */
  private def textOf(address: InetAddress): String = address.getHostAddress.takeWhile(_ != '%')
}
