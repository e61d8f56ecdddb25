package io.github.pulsarspark.checkpoint

import java.util.UUID
import java.util.concurrent.{Executors, TimeUnit}

import scala.collection.concurrent.TrieMap
import scala.concurrent.duration._

import io.github.pulsarspark.errors.Conditions

/** The stores of this JVM, one for each topic. A store is opened when it is used, closed when nobody has used it for a
  * while, and opened anew when it has failed.
  */
private[checkpoint] object CheckpointStores {
  private val slots = TrieMap.empty[(String, StoreSettings), StoreSlot]

  private val Idle = 1.minute

  private val sweeper = Executors.newSingleThreadScheduledExecutor { task =>
    val thread = new Thread(task, "pulsar-spark: idle checkpoint stores")
    thread.setDaemon(true)
    thread
  }
  sweeper.scheduleWithFixedDelay(() => slots.values.foreach(_.closeIfIdle(Idle)), 10, 10, TimeUnit.SECONDS)

  def slot(topic: String, settings: StoreSettings): StoreSlot =
    slots.getOrElseUpdate((topic, settings), new StoreSlot(topic, settings))
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
    lastUsed = System.nanoTime()
  }

  def closeIfIdle(patience: FiniteDuration): Unit = synchronized {
    if (users == 0 && System.nanoTime() - lastUsed > patience.toNanos) open.foreach(close)
  }

  private def close(store: CheckpointStore): Unit = {
    open = None
    store.close()
  }
}
