package io.github.pulsarspark.pulsar.producer

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.pulsar.client.api.{HashingScheme, Schema, TopicMetadata}
import org.apache.pulsar.client.impl.{MessageImpl, RoundRobinPartitionMessageRouterImpl}
import org.apache.pulsar.common.api.proto.MessageMetadata
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.schema.columns.OutgoingMessage

class PartitionChooserSuite extends PropertySuite(5000) {

  private val keys = Gen.either(
    Gen.oneOf(Gen.alphaNumStr, Gen.stringOf(Gen.oneOf('a', 'ß', '漢')), Gen.const("x\ud83d\ude00")),
    Gen.listOf(Gen.choose(Byte.MinValue, Byte.MaxValue)).map(_.toArray)
  )

  private def message(key: Either[String, Array[Byte]]) = {
    val result = new OutgoingMessage
    result.key = key.fold(_.getBytes(UTF_8), identity)
    result.keyIsBytes = key.isRight
    result
  }

  private def ofClient(key: Either[String, Array[Byte]], scheme: HashingScheme, partitions: Int): Int = {
    val metadata = new MessageMetadata().setPartitionKey(key.fold(identity, java.util.Base64.getEncoder.encodeToString))
    val message  = MessageImpl.create(metadata, ByteBuffer.allocate(0), Schema.BYTES, "t")
    val topic    = new TopicMetadata { override def numPartitions: Int = partitions }
    new RoundRobinPartitionMessageRouterImpl(scheme, 0, true, 10).choosePartition(message, topic)
  }

  HashingScheme.values.foreach { scheme =>
    property(s"a key goes to the partition that the Java client selects: $scheme") {
      forAll(keys, Gen.choose(1, 1000)) { (key, partitions) =>
        val chosen =
          new PartitionChooser(scheme, 7, isFixed = false).choose(-1, MessageKey.of(message(key)), partitions)
        assertEquals(chosen, ofClient(key, scheme, partitions))
      }
    }
  }

  test("rows without a key go to the next partition when a batch was sent, unless the partition is fixed") {
    val chooser = new PartitionChooser(HashingScheme.JavaStringHash, 6, isFixed = false)
    val found   = Seq.fill(5) {
      val chosen = Seq.fill(3)(chooser.choose(-1, null, 4)).distinct
      chooser.advance()
      chosen
    }
    assertEquals(found, Seq(2, 3, 0, 1, 2).map(Seq(_)))
    val fixed = new PartitionChooser(HashingScheme.JavaStringHash, 6, isFixed = true)
    fixed.advance()
    assertEquals(fixed.choose(-1, null, 4), 2)
  }

  test("messages that the client sends one by one go to the same partitions") {
    val topic             = new TopicMetadata { override def numPartitions: Int = 4 }
    def sent(key: String) = {
      val metadata = new MessageMetadata
      if (key != null) metadata.setPartitionKey(key)
      MessageImpl.create(metadata, ByteBuffer.allocate(0), Schema.BYTES, "t")
    }
    val fixed = new RowPartitionRouter(HashingScheme.JavaStringHash, isFixed = true)
    assertEquals(Seq.fill(100)(fixed.choosePartition(sent(null), topic)).distinct.size, 1)
    assertEquals(fixed.choosePartition(sent("key"), topic), ofClient(Left("key"), HashingScheme.JavaStringHash, 4))
    fixed.next = 3
    assertEquals(fixed.choosePartition(sent(null), topic), 3)
  }

  test("rows with the ids of a name go to the same partitions in each run") {
    val topic          = new TopicMetadata { override def numPartitions: Int = 4 }
    def sent(id: Long) = {
      val metadata = new MessageMetadata
      if (id >= 0) metadata.setSequenceId(id)
      MessageImpl.create(metadata, ByteBuffer.allocate(0), Schema.BYTES, "t")
    }
    def router = new RowPartitionRouter(HashingScheme.JavaStringHash, isFixed = false, isRepeatable = true)
    for (_ <- 1 to 10) {
      val (numbered, counted) = (router, router)
      assertEquals(Seq(0L, 3L, 4L, 9L).map(id => numbered.choosePartition(sent(id), topic)), Seq(0, 3, 0, 1))
      assertEquals(Seq.fill(5)(counted.choosePartition(sent(-1), topic)), Seq(0, 1, 2, 3, 0))
    }
  }

  test("a row that names its partition goes there") {
    assertEquals(new PartitionChooser(HashingScheme.JavaStringHash, 0, isFixed = false).choose(3, "k".getBytes, 4), 3)
  }

  test("partitions that get rows soon are those in turn, if rows go by turn") {
    val chooser = new PartitionChooser(HashingScheme.JavaStringHash, 6, isFixed = false)
    assertEquals(chooser.upcoming(3, 4), Nil)
    chooser.choose(-1, null, 4)
    assertEquals(chooser.upcoming(3, 4), Seq(2, 3, 0))
    assertEquals(chooser.upcoming(8, 4), Seq(2, 3, 0, 1))
    chooser.choose(-1, "k".getBytes, 4)
    assertEquals(chooser.upcoming(3, 4), Nil)
    chooser.choose(1, null, 4)
    assertEquals(chooser.upcoming(3, 4), Nil)
    val fixed = new PartitionChooser(HashingScheme.JavaStringHash, 6, isFixed = true)
    fixed.choose(-1, null, 4)
    assertEquals(fixed.upcoming(3, 4), Nil)
  }
}
