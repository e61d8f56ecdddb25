package io.github.pulsarspark.storage

import scala.concurrent.duration._

import io.github.pulsarspark.common.Recently
import io.github.pulsarspark.storage.segment.OffloadLocation

/** Storage of offloaded ledgers that gave this JVM no answer in time. Where the broker may be asked instead it is left
  * alone for a while, since otherwise each of many ledgers would be waited for until the deadline.
  */
private[storage] object UnresponsiveStorage {

  private val Alone  = 5.minutes
  private val silent = new Recently[OffloadLocation](Alone)

  def add(location: OffloadLocation): Unit = silent.add(location)

  def contains(location: OffloadLocation): Boolean = silent.contains(location)

  /** Why it is not read. */
  def obstacle(location: OffloadLocation): Option[String] =
    Option.when(contains(location))(s"${location.uri} gave no answer in the last ${Alone.toMinutes} minutes")
}
