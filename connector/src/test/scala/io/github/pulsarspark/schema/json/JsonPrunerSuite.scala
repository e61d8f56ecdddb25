package io.github.pulsarspark.schema.json

import java.nio.charset.StandardCharsets.UTF_8

import munit.FunSuite

class JsonPrunerSuite extends FunSuite {
  private val names  = Seq("a", "b", "é", "c", "d")
  private val wanted = Seq("é", "d")

  private def pruned(value: String): Option[String] = {
    val pruner = JsonPruner(names, wanted).get
    val bytes  = s"}$value".getBytes(UTF_8)
    Option.when(pruner.prune(bytes, 1, bytes.length - 1))(new String(pruner.result, 0, pruner.resultSize, UTF_8))
  }

  test("wanted members stay as they are, in their order, as often as they are there") {
    assertEquals(pruned("""{"a":1,"b":"x","é":[1,{"d":2}],"c":null,"d":-1.5e3}"""),
      Some("""{"é":[1,{"d":2}],"d":-1.5e3}"""))
    assertEquals(pruned("""{"d":"}\"\\","z":{"d":[[],{}]},"é": NaN ,"d" : true}"""),
      Some("""{"d":"}\"\\","é": NaN,"d" : true}"""))
    assertEquals(pruned(" \n{ \"a\" :\t\"\\\"\" ,\r\"b\":[ \"]\" ] } what follows"), Some("{}"))
    assertEquals(pruned("{}"), Some("{}"))
    val long = "x" * 5000
    assertEquals(pruned(s"""{"é":"$long","d":"$long"}"""), Some(s"""{"é":"$long","d":"$long"}"""))
  }

  test("what is not plainly an object is left to the parser") {
    val members = Seq("""{"a":1,}""", """{"a" 1}""", """{"a":1 "b":2}""", """{"a":}""", """{a:1}""", """{"a":'x'}""",
      """{"a":1;"b":2}""")
    val ends =
      Seq("", " ", "{", """{"a""", """{"a"""", """{"a":""", """{"a":1""", """{"a":"x""", """{"a":"x\""", """{"a":[1""",
        """{"a":1,""")
    val values = Seq("null", "[]", "1", """{"a":[1}}""", """{"a":{1]}""", "{\"a\":\"\u0001\"}", "{\"\\u0061\":1}")
    (members ++ ends ++ values :+ s"""{"a":${"[" * 65}${"]" * 65}}""").foreach(value =>
      assertEquals(pruned(value), None, value)
    )
    assertEquals(pruned(s"""{"a":${"[" * 64}${"]" * 64}}"""), Some("{}"))
  }

  test("it is not made where most members are wanted") {
    assertEquals(JsonPruner(names, names.take(3)), None)
    assert(JsonPruner(names :+ "e", names.take(3)).isDefined)
    assert(JsonPruner(Nil, Seq("a")).isEmpty)
  }
}
