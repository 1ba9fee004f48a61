"use strict";

// The operations that the playground opens with, a tab each.
const examples = [
  {
    query: `# Makes an account and logs in. The access
# token goes into the field above. Names are
# unique: choose your own.
mutation SignUp($input: SignUpInput!) {
  signUp(input: $input) {
    session {
      accessToken
      refreshToken
      expiresAt
      player { id name }
    }
    userErrors { code message field }
  }
}
`,
    variables: { input: { name: "Ada", password: "correct horse battery" } },
  },
  {
    query: `# Finds a player by name.
query Find($name: String!) {
  player(name: $name) {
    id
    name
    fanCount
    isFollowing
    isFriend
  }
}

# Follows the player with the id found above.
mutation Follow($playerId: ID!) {
  followPlayer(input: { playerId: $playerId }) {
    player { name isFollowing isFriend fanCount }
    userErrors { code message }
  }
}
`,
    variables: { name: "Ada", playerId: "player_..." },
  },
  {
    query: `# Writes a feed. With an idempotencyKey in the
# input, sending it again makes no second one.
mutation Post($input: CreateFeedInput!) {
  createFeed(input: $input) {
    feed { id summary visibility createdAt }
    userErrors { code message field }
  }
}
`,
    variables: { input: { content: "Hello, circle! 👋", visibility: "PUBLIC" } },
  },
  {
    query: `# The home page: own feeds and those of
# followed players, newest first.
query Home($first: Int!, $after: Cursor) {
  homeFeed(first: $first, after: $after) {
    edges {
      reason
      node {
        id
        summary
        createdAt
        author { id name avatarUrl }
        likeCount
        commentCount
        viewCount
        hasLiked
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}
`,
    variables: { first: 20 },
  },
  {
    query: `# Likes a feed. A second like answers
# ALREADY_LIKED, with the feed as it is.
mutation Like($feedId: ID!) {
  likeFeed(input: { feedId: $feedId }) {
    feed { id likeCount hasLiked }
    userErrors { code message }
  }
}
`,
    variables: { feedId: "feed_..." },
  },
  {
    query: `# Who likes a feed: friends of yours first.
query Likes($feedId: ID!, $first: Int!, $after: Cursor) {
  node(id: $feedId) {
    ... on Feed {
      likeCount
      likes(first: $first, after: $after, order: FRIENDS_FIRST) {
        totalCount
        friendCount
        nodes { isFriend likedAt player { id name } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}
`,
    variables: { feedId: "feed_...", first: 20 },
  },
];
