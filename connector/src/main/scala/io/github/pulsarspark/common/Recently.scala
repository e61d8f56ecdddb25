package io.github.pulsarspark.common

import scala.collection.concurrent.TrieMap
import scala.concurrent.duration.FiniteDuration

/** Remembers values that were observed within the last `lasts`. For many threads.
  *
  * @param nanos
  *   the clock, as `System.nanoTime`
  */
private[pulsarspark] final class Recently[A](lasts: FiniteDuration, nanos: () => Long = () => System.nanoTime()) {

  private val since = new TrieMap[A, Long]

  def add(observed: A): Unit = since.update(observed, nanos())

  def contains(observed: A): Boolean = since.get(observed).exists { at =>
    val isRecent = nanos() - at < lasts.toNanos
    if (!isRecent) since.remove(observed, at)
    isRecent
  }
}
