package io.github.pulsarspark.storage.bookkeeper

import java.util.concurrent.TimeUnit

import scala.collection.concurrent.TrieMap

/** Which of the bookies that have an entry is asked for it: first one on this machine, last one that kept somebody waiting lately. Otherwise each task, and in a
  * striped ledger each read, would wait for that one anew.
  *
  * @param isHere
  *   whether a bookie is on this machine, by its id
  */
private[bookkeeper] final class BookieRanks(isHere: String => Boolean = ThisMachine.has, nanos: () => Long = () => System.nanoTime()) {
  import BookieRanks._

  private val slowSince = new TrieMap[String, Long]
  private val here      = new TrieMap[String, Boolean]

  def addSlow(bookie: String): Unit = slowSince.update(bookie, nanos())

  def isSlow(bookie: String): Boolean = slowSince.get(bookie).exists { since =>
    val recently = nanos() - since < AvoidedNanos
    if (!recently) slowSince.remove(bookie, since)
    recently
  }

  /** The lowest is asked first. */
  def apply(bookie: String): Int = if (isSlow(bookie)) 2 else if (here.getOrElseUpdate(bookie, isHere(bookie))) 0 else 1
}

private[bookkeeper] object BookieRanks {
  private val AvoidedNanos = TimeUnit.SECONDS.toNanos(60)

  /** By what any task of this JVM came upon. */
  val ofThisJvm: BookieRanks = new BookieRanks
}
