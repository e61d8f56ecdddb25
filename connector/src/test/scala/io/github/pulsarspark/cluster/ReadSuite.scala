package io.github.pulsarspark.cluster

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.format.{Sent, StoredEntry}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.Position

/** Reads of a scripted cluster by the connector's real clients. */
abstract class ReadSuite extends UnitSuite {
  protected val cluster = new ScriptedCluster

  override def beforeAll(): Unit = loggers.foreach(Configurator.setLevel(_, Level.OFF))
  override def afterAll(): Unit  =
    try cluster.close()
    finally loggers.foreach(Configurator.setLevel(_, Level.INFO))

  private def loggers = Seq("org.apache.pulsar", "io.github.pulsarspark")

  protected def full(name: String): String = s"persistent://public/default/$name"

  /** Stores ledgers with so many entries of one message each; the last one is open. */
  protected def store(name: String, home: Long => LedgerHome, ledgers: (Long, Int)*): StoredTopic = {
    val topic = StoredTopic(
      full(name),
      ledgers.map { case (id, entries) =>
        TopicLedger(
          id,
          (0 until entries).map { i =>
            val at = Position(id, i.toLong)
            TopicEntry(at, StoredEntry(Seq(Sent.text(s"$at")), batched = true).array, TopicEntry.Messages(), 1L, 1)
          }.toVector
        )
      }.toVector,
      home = home
    )
    cluster.add(topic)
    topic
  }

  protected def stored(name: String, ledgers: (Long, Int)*): StoredTopic =
    store(name, _ => LedgerHome.Bookie, ledgers: _*)

  private[pulsarspark] def options(more: (String, String)*): ReadOptions = ReadOptions(CheckedOptions(
    Map("service.url" -> cluster.serviceUrl, "admin.url" -> cluster.adminUrl, "topic" -> "t",
      "pollTimeoutMs" -> "20000") ++ more,
    Scope.StreamRead,
    _ => Nil
  ))
}
