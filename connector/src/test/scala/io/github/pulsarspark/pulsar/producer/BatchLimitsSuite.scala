package io.github.pulsarspark.pulsar.producer

import scala.concurrent.duration._

import org.apache.pulsar.client.impl.conf.ProducerConfigurationData

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.WriteOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}

class BatchLimitsSuite extends UnitSuite {

  private def limits(messages: Int, bytes: Int, pending: Int) = {
    val conf = new ProducerConfigurationData
    conf.setBatchingMaxMessages(messages)
    conf.setBatchingMaxBytes(bytes)
    conf.setMaxPendingMessages(pending)
    BatchLimits(conf, 5242880)
  }

  test("the client's settings bound a batch, the queue and the broker's limit besides") {
    assertEquals(limits(1000, 131072, 0), BatchLimits(1000, 131072))
    assertEquals(limits(1000, 131072, 20), BatchLimits(20, 131072))
    assertEquals(limits(1000, 100000000, 0).bytes, 5242880 - 81920)
    assertEquals(limits(1000, -1, 0).bytes, 5242880 - 81920)
  }

  test("batches wait longer for rows that name their topics, unless the user says how long") {
    def delay(options: (String, String)*) =
      BatchLimits.publishDelay(WriteOptions(CheckedOptions(options.toMap + ("service.url" -> "pulsar://h:1"),
        Scope.BatchWrite, _ => Seq("batchingMaxPublishDelayMicros"))))
    assertEquals(delay(), Some(100.millis))
    assertEquals(delay("topic" -> "t"), None)
    assertEquals(delay("pulsar.producer.batchingMaxPublishDelayMicros" -> "1000"), None)
  }

  test("the client gets messages one by one where it has to see each of them") {
    def areOurs(settings: (String, String)*) = BatchLimits.areOurs(settings.toMap, Set.empty)
    assert(areOurs())
    assert(areOurs("batchingEnabled" -> "true", "compressionType" -> "LZ4", "messageRoutingMode" -> "SinglePartition"))
    Seq("batchingEnabled" -> "false", "chunkingEnabled" -> "True", "lazyStartPartitionedProducers" -> "true").foreach(
      setting => assert(!areOurs(setting), setting)
    )
    assert(BatchLimits.areOurs(Map.empty, Set("__key", "__partition", "__eventTime")))
    Seq("__sequenceId", "__deliverAt", "__deliverAfter", "__replicationClusters").foreach(column =>
      assert(!BatchLimits.areOurs(Map.empty, Set("__key", column)), column)
    )
  }
}
