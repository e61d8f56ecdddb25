package io.github.pulsarspark.inspect.doctor

import scala.util.Using

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.cluster.{ScriptedCluster, StoredTopic, TopicLedger}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.pulsar.PulsarConnection

/** Checks of a broker that answers as one of a cluster. A standalone server sends clients back to the service URL,
  * whatever it advertises.
  */
class BrokerChecksSuite extends UnitSuite {

  private val topic = "persistent://public/default/t"

  /** Finding about the owner of a topic. */
  private def owner(advertised: Option[String]): Finding =
    Using.resource(new ScriptedCluster(advertised)) { cluster =>
      cluster.add(StoredTopic(topic, Vector(TopicLedger(1, Vector.empty))))
      val settings = Map("service.url" -> cluster.serviceUrl, "topic" -> topic, "operationTimeoutMs" -> "5000")
      val options  = ReadOptions(CheckedOptions(settings, Scope.BatchRead, _ => Nil))
      Using.resource(PulsarConnection(options.client)) { connection =>
        val checks = new BrokerChecks(() => connection, options, None).all.map(c => c.name -> c).toMap
        assert(clue(checks(BrokerChecks.Topic).work()).isInstanceOf[Finding.Good])
        checks(BrokerChecks.Owner).work()
      }
    }

  test("an advertised address at which nobody listens: the address and the topic are named") {
    owner(Some("pulsar://127.0.0.1:1")) match {
      case Finding.Bad(found, _) =>
        assertEquals(found.condition.name, "PULSAR_ADVERTISED_ADDRESS")
        assert(clue(found.message).contains("127.0.0.1:1") && found.message.contains(topic))
      case other => fail(s"found $other")
    }
  }

  test("an address that answers is good") {
    assert(clue(owner(None)).isInstanceOf[Finding.Good])
  }
}
