package io.github.pulsarspark.schema.columns

import org.apache.spark.sql.types._

import io.github.pulsarspark.UnitSuite

class ColumnNamesSuite extends UnitSuite {

  private def ints(names: String*) = StructType(names.map(StructField(_, IntegerType)))

  test("the first two names that Spark takes for one, at any depth") {
    val inner = ints("x", "y", "X")
    Seq[(StructType, Option[(String, String)])](
      ints("a", "b")                                        -> None,
      ints("a", "b", "B", "A")                              -> Some(("a", "A")),
      new StructType().add("s", inner)                      -> Some(("s.x", "s.X")),
      new StructType().add("l", ArrayType(inner))           -> Some(("l.x", "l.X")),
      new StructType().add("m", MapType(StringType, inner)) -> Some(("m.x", "m.X")),
      new StructType().add("m", MapType(inner, StringType)) -> Some(("m.x", "m.X")),
      ints("s").add("t", inner).add("T", LongType)          -> Some(("t", "T"))
    ).foreach { case (columns, expected) =>
      assertEquals(ColumnNames.alike(columns, isCaseSensitive = false), expected, columns.sql)
      assertEquals(ColumnNames.alike(columns, isCaseSensitive = true), None, columns.sql)
    }
    assertEquals(ColumnNames.alike(ints("a", "b", "a"), isCaseSensitive = true), Some(("a", "a")))
  }
}
