package io.github.pulsarspark.storage

import java.util.concurrent.TimeUnit

import scala.collection.concurrent.TrieMap

/** Storage of offloaded ledgers that gave this JVM no answer in time. Where the broker may be asked instead it is left alone for a while, since otherwise each of
  * many ledgers would be waited for until the deadline.
  */
private[storage] object SilentStorage {

  private val since        = TrieMap.empty[OffloadLocation, Long]
  private val AloneMinutes = 5L

  def add(location: OffloadLocation): Unit = since.update(location, System.nanoTime())

  def contains(location: OffloadLocation): Boolean =
    since.get(location).exists(System.nanoTime() - _ < TimeUnit.MINUTES.toNanos(AloneMinutes))

  /** Why it is not read. */
  def obstacle(location: OffloadLocation): Option[String] =
    Option.when(contains(location))(s"${location.uri} gave no answer in the last $AloneMinutes minutes")
}
