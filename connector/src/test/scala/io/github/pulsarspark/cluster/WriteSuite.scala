package io.github.pulsarspark.cluster

import java.util.concurrent.atomic.AtomicLong

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.options.{ClientOptions, WriteOptions}
import io.github.pulsarspark.pulsar.connection.ClientSettings

/** Writes to a scripted cluster by the connector's real clients. */
abstract class WriteSuite extends UnitSuite {

  protected val cluster = new ScriptedCluster
  private val ids       = new AtomicLong(100)

  override def beforeAll(): Unit = Configurator.setLevel("org.apache.pulsar", Level.OFF)

  override def beforeEach(context: BeforeEach): Unit = { requests(); () }

  override def afterAll(): Unit =
    try cluster.close()
    finally Configurator.setLevel("org.apache.pulsar", Level.INFO)

  protected def topic(name: String): String = s"persistent://public/default/$name"

  /** Makes an empty topic partition. */
  protected def store(name: String): Unit =
    cluster.add(StoredTopic(topic(name), Vector(TopicLedger(ids.getAndIncrement(), Vector.empty))))

  /** Requests of producers and transactions since the last call. */
  protected def requests(): Seq[String] = cluster.writes.take()

  private[pulsarspark] def options(settings: (String, String)*): WriteOptions =
    WriteOptions(CheckedOptions(Map("service.url" -> cluster.serviceUrl) ++ settings, Scope.BatchWrite,
      ClientSettings.fields))

  private[pulsarspark] def client(settings: (String, String)*): ClientOptions = options(settings: _*).client

  /** The condition that a call fails with. */
  protected def condition(body: => Any): String = intercept[RuntimeException with PulsarError](body).condition
}
