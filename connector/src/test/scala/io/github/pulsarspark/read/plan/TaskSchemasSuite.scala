package io.github.pulsarspark.read.plan

import scala.collection.mutable

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.read.task.PlannedSchema
import io.github.pulsarspark.read.task.PlannedSchema.Sent
import io.github.pulsarspark.schema.TopicSchema

class TaskSchemasSuite extends UnitSuite {

  private val small = TopicSchema("AVRO", definition = "{}")
  private val large = TopicSchema("AVRO", definition = "x" * 50000, unversioned = Some(TopicSchema.Bytes))

  /** Marks what is shared by an empty schema, and writes it down. */
  private final class Sharing {
    val requests: mutable.Buffer[TopicSchema] = mutable.Buffer.empty
    val schemas = new TaskSchemas(schema => { requests += schema; Sent(TopicSchema.Bytes) })

    def isShared(schema: TopicSchema, tasks: Seq[Set[TopicSchema]]): Boolean = {
      val planned: PlannedSchema = schemas.planned(tasks)(schema)
      assert(planned == Sent(schema) || planned == Sent(TopicSchema.Bytes), planned)
      planned != Sent(schema)
    }
  }

  test("a schema travels with tasks up to a limit of bytes in all of them, then it is shared") {
    val sharing = new Sharing
    val few     = (TaskSchemas.MaxBytes / 50010).toInt
    assert(!sharing.isShared(large, Seq.fill(few)(Set(large))))
    assert(sharing.isShared(large, Seq.fill(few + 2)(Set(large))))
    assert(!sharing.isShared(small, Seq.fill(3000)(Set(small, large))))
    assertEquals(sharing.requests.toSeq, Seq(large))
  }

  test("a stream shares a schema once, also for plans with few tasks, until a plan does without it") {
    val sharing = new Sharing
    val many    = Seq.fill(3000)(Set(large))
    assert(sharing.isShared(large, many))
    assert(sharing.isShared(large, Seq(Set(large, small))))
    assert(sharing.isShared(large, many))
    assertEquals(sharing.requests.size, 1)
    assertEquals(sharing.schemas.planned(Seq(Set(small))), Map[TopicSchema, PlannedSchema](small -> Sent(small)))
    assert(!sharing.isShared(large, Seq(Set(large))))
    assertEquals(sharing.schemas.planned(Nil), Map.empty[TopicSchema, PlannedSchema])
  }
}
