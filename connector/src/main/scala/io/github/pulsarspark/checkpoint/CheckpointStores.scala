package io.github.pulsarspark.checkpoint

import java.util.UUID
import java.util.concurrent.{Executors, TimeUnit}

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.Conditions

/** The stores of this JVM, one for each topic. A store is opened when it is used, closed when nobody has used it for a
  * while, and opened anew when it has failed. Its slot is forgotten after a day.
  */
private[checkpoint] object CheckpointStores {
  private val log   = LoggerFactory.getLogger(getClass)
  private val slots = new StoreSlots

  every(10, "idle checkpoint stores")(slots.sweep(idle = 1.minute, forgotten = 1.day))
  every(60, "policies of checkpoint stores")(slots.checkPolicies())

  def slot(topic: String, settings: StoreSettings): StoreSlot = slots.slot(topic, settings)

  private def every(seconds: Long, name: String)(task: => Unit): Unit = {
    val timer = Executors.newSingleThreadScheduledExecutor { task =>
      val thread = new Thread(task, s"pulsar-spark: $name")
      thread.setDaemon(true)
      thread
    }
    val caught: Runnable = () =>
      try task
      catch { case NonFatal(e) => log.debug("{} failed, and will run again", name, e) }
    timer.scheduleWithFixedDelay(caught, seconds, seconds, TimeUnit.SECONDS)
    ()
  }
}

/** Places for stores, by topic and settings. */
private[checkpoint] final class StoreSlots {
  private var slots = Map.empty[(String, StoreSettings), StoreSlot]

  def slot(topic: String, settings: StoreSettings): StoreSlot = synchronized {
    val found = slots.getOrElse((topic, settings), new StoreSlot(topic, settings))
    slots = slots.updated((topic, settings), found)
    found.touch()
    found
  }

  /** Closes what nobody has used for a while, and forgets what nobody has used for long. */
  def sweep(idle: FiniteDuration, forgotten: FiniteDuration): Unit = {
    all.foreach(_.closeIfIdle(idle))
    synchronized {
      slots = slots.filterNot(_._2.isUnused(forgotten))
    }
  }

  /** Fails the stores whose policies would lose them by now. */
  def checkPolicies(): Unit = all.foreach(_.checkPolicies())

  def all: Seq[StoreSlot] = synchronized(slots.values.toSeq)
}

/** A place for the store of a topic, with the temporary files that only this JVM has. */
private[checkpoint] final class StoreSlot(topic: String, settings: StoreSettings) {
  val temporaries: Temporaries = new Temporaries

  private var open     = Option.empty[CheckpointStore]
  private var lastId   = Option.empty[UUID]
  private var users    = 0
  private var lastUsed = System.nanoTime()

  /** Uses the store; creates it if it does not exist. */
  def use[A](body: CheckpointStore => A): A = {
    val store = enter()
    try body(store)
    finally leave()
  }

  /** Uses the store if it exists. */
  def ifExists[A](body: CheckpointStore => Option[A]): Option[A] =
    if (synchronized(open.isDefined) || CheckpointStore.exists(topic, settings)) use(body) else None

  private def enter(): CheckpointStore = synchronized {
    open.filterNot(_.isUsable).foreach(close)
    val store = open.getOrElse(reopened())
    open = Some(store)
    users += 1
    store
  }

  /** Fails once if the topic has another store than before: what runs here would mix the two. */
  private def reopened(): CheckpointStore = {
    val store  = CheckpointStore.open(topic, settings)
    val before = lastId
    lastId = Some(store.id)
    if (before.exists(_ != store.id)) {
      store.close()
      throw Conditions.CheckpointStoreReplaced(topic = topic).exception
    }
    store
  }

  private def leave(): Unit = synchronized {
    users -= 1
    touch()
  }

  /** Begins the time anew for which nobody has used it. */
  def touch(): Unit = synchronized {
    lastUsed = System.nanoTime()
  }

  def closeIfIdle(patience: FiniteDuration): Unit = synchronized {
    if (isUnused(patience)) open.foreach(close)
  }

  def isUnused(patience: FiniteDuration): Boolean = synchronized {
    users == 0 && System.nanoTime() - lastUsed > patience.toNanos
  }

  def checkPolicies(): Unit = synchronized(open).foreach(_.checkPolicies())

  private def close(store: CheckpointStore): Unit = {
    open = None
    store.close()
  }
}
